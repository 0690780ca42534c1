"""Compare this project's data model with the article's models and with indexes: `python -m bench.models`."""
