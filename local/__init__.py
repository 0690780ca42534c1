"""Runs the app on one machine with a Cosmos DB emulator and a Functions host. Never deployed."""
