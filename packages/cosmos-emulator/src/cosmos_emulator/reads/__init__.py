"""Reads of more than one item: scope, index selection and paging.

- `slices`: parts of physical partitions.
- `paging`: page limits, scans in steps, continuation tokens.
- `query_text`: a parsed query with its parameters.
- `execution`: one page of a query, with `order_by` for ORDER BY and `result_page` for the page being filled.
- `unfinished`: queries between their pages; `page_work`: pages that take longer than a request.
- `passed_entries`: the index entries that an ORDER BY reads without loading their items.
- `entry_access`: the index that serves a query; `entry_ranges`: the part of it to read.
"""
