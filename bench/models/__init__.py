"""Compare the costs of the article's three data models with this project's: `python -m bench.models`."""
