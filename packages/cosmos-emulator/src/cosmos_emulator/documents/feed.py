"""The read feed: documents in insertion order, page by page."""

from __future__ import annotations

from cosmos_emulator.reads.paging import ItemPosition, PageLimits, Steps, has_token_at_end, item_chunks
from cosmos_emulator.reads.slices import Slice
from cosmos_emulator.store.items import StoredItem


def feed_page(
    slices: list[Slice], start: ItemPosition | None, limits: PageLimits
) -> Steps[tuple[list[StoredItem], ItemPosition | None]]:
    """Return items after `start`, and the next position, None at the end (but see `has_token_at_end`)."""
    page: list[StoredItem] = []
    position: ItemPosition | None = None
    for one, chunk in item_chunks(slices, start):
        for item in chunk:
            if not limits.admit(len(item.body)):
                return page, position
            page.append(item)
            position = ItemPosition.after_item(one, item, start)
        yield
    return page, position if limits.is_full and has_token_at_end(slices) else None
