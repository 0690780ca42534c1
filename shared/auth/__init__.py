"""Who may do what: where a caller's identity comes from, and what he may do with it."""
