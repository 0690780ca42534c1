"""The Cosmos DB trigger: leases shared between hosts, and a change-feed pump per lease."""
