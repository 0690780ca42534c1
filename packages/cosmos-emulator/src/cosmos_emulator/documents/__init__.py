"""Operations on documents, shared by single requests, batches and scripts.

There is one function per operation. Each works on a `LogicalPartition`: one partition key value in a transaction.
"""
