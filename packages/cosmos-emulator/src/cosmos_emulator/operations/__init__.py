"""One file per operation, named after it: `handle` is its door from HTTP.

What an operation does to documents stands in local/cosmos/documents, where batches and scripts find it as well.
"""
