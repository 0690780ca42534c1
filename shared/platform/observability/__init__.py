"""Spans, metrics and the log. Exporters and span processors handle the spans."""
