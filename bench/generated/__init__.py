"""A blog of any size, generated from a seed."""
