"""The definitions of containers and of global secondary indexes, and the rids of resources."""
