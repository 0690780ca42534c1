"""Cosmos DB access: the client, its transport, containers, request charges, session tokens, retries and deadlines."""
