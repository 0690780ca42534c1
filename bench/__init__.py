"""Measurements: one script per question. No part of the tests, never deployed."""
