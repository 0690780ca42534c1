"""Deliveries of changes: deadlines, failures, and the pace of long work."""
