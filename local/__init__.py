"""What stands in for Azure on one machine: an embedded Cosmos DB and Functions host. Never deployed."""
