"""Throughput, storage and cost of the blog for 100,000 to 1 billion users: `python -m bench.capacity`."""
