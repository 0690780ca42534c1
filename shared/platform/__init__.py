"""What every app on Cosmos DB and Azure Functions needs. It names nothing of the app, which gives it what it needs."""

from typing import Final

# The name of the app: of its logger, its settings, and the start of the names of its metrics and attributes.
NAME: Final = "blog"
