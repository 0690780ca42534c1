"""Everything between an HTTP request and its operation."""
