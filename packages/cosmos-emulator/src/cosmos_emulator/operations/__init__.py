"""One file per operation, with its HTTP handler `handle`.

Operations on items call documents/, as do batches and scripts.
"""
