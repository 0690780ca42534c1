"""One file per operation, with its HTTP handler `handle`.

The operations on items call documents/, which batches and scripts use as well.
"""
