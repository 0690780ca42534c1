"""Reads of more than one item: what is read, through which index, and how it is split into pages.

- `slices`: the parts of physical partitions that a request reads.
- `paging`: page limits, scans in steps, continuation tokens.
- `query_text`: a query and its parameters, parsed.
- `routing`: which slices a query reads, and when the client must merge.
- `execution`: one page of a query; `order_by` is its ORDER BY path and `result_page` the page being filled.
- `index_selection`: which index serves a query; `index_ranges` is which part of that index.
- `udfs`: user-defined functions called by a query.
"""
