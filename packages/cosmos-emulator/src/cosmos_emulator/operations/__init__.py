"""One file per operation, with its handler `handle`. `item_requests` and `resource_requests` are for several.

Operations on items call documents/, as do batches and scripts. They raise 400 for an invalid request, 404 for a missing
resource, 409 for a taken name, and 412 for a changed etag.
"""
