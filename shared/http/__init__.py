"""HTTP layer: request parsing, error mapping, responses, and OpenAPI."""
