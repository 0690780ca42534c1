"""Compare this project's data model with those of the article and with indexes: `python -m bench.models`."""
