"""What a page may take, and the script that measures how far it shifts."""

from __future__ import annotations

BYTES = 60_000
# Records layout shifts from the start of the page.
OBSERVE = """
window.shifts = 0;
new PerformanceObserver(list => list.getEntries().forEach(entry => { window.shifts += entry.value; }))
  .observe({type: "layout-shift", buffered: true});
"""
