"""Partition keys, their hashes, and the hash ranges of physical partitions."""
