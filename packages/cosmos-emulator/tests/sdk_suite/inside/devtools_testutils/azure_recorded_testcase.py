"""The credential of the suite."""

import os


def get_credential(is_async=False):
    """Return the account key, which both kinds of client accept."""
    return os.environ["ACCOUNT_KEY"]
