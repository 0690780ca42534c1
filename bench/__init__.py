"""Measurements, one script per question. Not deployed, and not part of the tests."""
