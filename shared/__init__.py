"""The code below the functions, in layers: each imports only from those below it (docs/architecture.md)."""
