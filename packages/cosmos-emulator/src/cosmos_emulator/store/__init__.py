"""Storage in SQLite: account, containers, physical partitions, items and indexes. Independent of HTTP."""
