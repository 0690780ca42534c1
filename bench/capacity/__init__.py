"""What the blog needs at 100,000, 10 million and 1 billion users, and which limit it meets first: computed from charges
that are measured in the same run, a stated load and published prices and limits (`python -m bench.capacity`)."""
