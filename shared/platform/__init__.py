"""What every app on Cosmos DB and Azure Functions needs. It names nothing of the app, which gives it what it needs."""
