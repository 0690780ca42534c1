"""Commands and queries on the containers: what each costs stands in its docstring."""
