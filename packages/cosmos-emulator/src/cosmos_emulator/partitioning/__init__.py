"""Partition keys: values, their hashes, and the ranges of hashes that physical partitions own."""
