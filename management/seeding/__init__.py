"""Generate a sample blog from a seed."""
