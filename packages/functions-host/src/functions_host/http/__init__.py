"""HTTP triggers: routing, requests and responses."""
