"""The article's three models and this project's own, behind one interface of the article's ten requests, and what each
of them costs: `python -m bench.models`."""
