"""The measures of bench.local_stack, one file each."""
