"""Reads of more than one item: what is read, through which index, and in which pages.

- `slices`: the parts of physical partitions that a request reads.
- `paging`: page limits, scans in steps, continuation tokens.
- `query_text`: a parsed query with its parameters.
- `routing`: the slices of a query, and when the client must merge.
- `execution`: one page of a query, with `order_by` for ORDER BY and `result_page` for the page being filled.
- `index_selection`: which index serves a query; `index_ranges`: which part of it.
"""
