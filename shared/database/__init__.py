"""Cosmos DB access: the client, its transport, sessions and request charges."""
