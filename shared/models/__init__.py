"""Requests, responses and items: their shapes, and the rules of their fields."""
