"""Commands and queries on the containers. Each docstring states the cost."""
