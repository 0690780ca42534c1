"""The data explorer: a page at `/_explorer/` that is a client of the emulator like any other.

The server only serves the files in `static/`. The page calls the emulator's API and signs each call in the browser, so
no route works without the account key, and a page of another site gains nothing. The files contain only the well-known
key, which is public. The page asks for any other key and keeps it in the tab's session storage.
"""

from cosmos_emulator.explorer.pages import explorer_page, is_explorer

__all__ = ["explorer_page", "is_explorer"]
