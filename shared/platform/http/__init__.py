"""HTTP layer: callers, request parsing, error mapping, and responses."""
