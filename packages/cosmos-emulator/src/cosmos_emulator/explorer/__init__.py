"""The data explorer: a page at `/_explorer/` that is a client of the emulator like any other.

The server only serves static files. The page signs its requests in the browser, so no route works without the account
key. It contains the well-known key, which is public, and keeps any other key in the tab's session storage.
"""

from cosmos_emulator.explorer.pages import explorer_page, is_explorer

__all__ = ["explorer_page", "is_explorer"]
