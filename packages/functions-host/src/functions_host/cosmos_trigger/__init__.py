"""The Cosmos DB trigger: leases shared between hosts and one change feed reader per lease."""
