"""The measurements of bench.local_stack."""
