"""Authentication and authorization: who sends a command, and what they can do."""
