"""Words that clients use: operations, consistency levels, and valid names."""
