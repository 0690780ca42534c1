"""Storage in SQLite: the account, its containers, physical partitions, items and indexes. Independent of HTTP."""
