"""Authentication: who sends a command, and which user they act as."""
