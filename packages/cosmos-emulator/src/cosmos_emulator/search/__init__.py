"""Vector and full-text search.

- `policies`: the policies of a container and their indexes.
- `queries`: what a query searches for. `functions`: the search functions. `plan`: the plan of ORDER BY RANK.
- `vectors` and `texts`: distances, words, phrases and BM25. `indexes` keeps both in memory, by physical partition.
- `ranking`: the order of items by one score or by several.

Only `vectors`, `texts`, `indexes` and `ranking` import NumPy and the stemmer, which are optional and slow to import.
"""
