"""The requests and responses of operations. Operations know nothing else about HTTP.

- `request`: the request with its resources; `links` and `headers`: its path and the names of its headers.
- `sessions`: session tokens; `resource_tokens`: signed permissions.
- `scope`: the slices that a request reads; `routing`: the slices of a query, and whether the client must merge.
- `answer`: the answer, and the headers and bodies that several operations return.
"""
