"""The data explorer: a web page under `/_explorer/` that is an ordinary client of the emulator.

The server only serves the files in `static/`. The page calls the emulator's REST API and signs each request in the
browser. Every API request needs the account key, so other sites gain nothing by embedding the page. The files contain
only the well-known key. The page prompts for any other key and keeps it in the tab's session storage.
"""

from cosmos_emulator.explorer.pages import explorer_page, is_explorer

__all__ = ["explorer_page", "is_explorer"]
