"""What can be done to documents: one function per operation, for single requests, batches and scripts alike.

They work on a `LogicalPartition`, which is one partition key value inside a transaction, and know no HTTP.
"""
