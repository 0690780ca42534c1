"""Pages of lists, and idempotency: what commands and queries of any resource need."""
