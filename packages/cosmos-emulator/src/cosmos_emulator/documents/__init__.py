"""Operations on documents, shared by single requests, batches and scripts.

They raise 400 for an invalid document, 404 for a missing item, 409 for a taken id or unique key value, and 412 for a
changed etag.
"""
