"""Generate a sample blog from a seed and write it to the database."""
