"""The data explorer: a page under `/_explorer/` that is a client of the emulator like any other.

The server hands out the files of `static/` and nothing else. The page calls the emulator's own API and signs each call
in the browser, so there is no route that works without the account's key: a page from elsewhere that a browser is made
to load gains nothing, and what the page shows is what an SDK would be answered. The files are the same for every
account and hold no key but the well-known one, which is public; for another one the page asks, and keeps it in the
tab's session storage.
"""

from cosmos_emulator.explorer.pages import explorer_page, is_explorer

__all__ = ["explorer_page", "is_explorer"]
