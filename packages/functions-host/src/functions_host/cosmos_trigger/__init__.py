"""The Cosmos DB trigger."""
