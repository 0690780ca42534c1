"""Scaling estimates for 100,000 to 1 billion users: `python -m bench.capacity`.

Inputs are measured charges, an assumed load, and published prices and limits.
"""
