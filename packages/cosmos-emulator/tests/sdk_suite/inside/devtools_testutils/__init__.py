"""Stands in for Microsoft's internal package of the same name, of which the suite imports two names."""
