"""Compiles the syntax tree to closures over frames."""
