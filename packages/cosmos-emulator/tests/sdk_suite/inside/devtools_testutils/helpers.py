"""Whether the suite runs against the service."""


def is_live():
    """Return what the suite's configuration stored: whether it runs against the service."""
    return is_live._cache
