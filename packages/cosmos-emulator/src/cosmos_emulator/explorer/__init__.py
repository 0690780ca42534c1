"""The data explorer: a web page under `/_explorer/` that is an ordinary client of the emulator.

The page signs requests in the browser, so other sites gain nothing by embedding it. Its files contain only the
well-known key; other keys are entered and kept in the tab's session storage.
"""

from cosmos_emulator.explorer.pages import explorer_page, is_explorer

__all__ = ["explorer_page", "is_explorer"]
