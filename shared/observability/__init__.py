"""Spans, metrics and the log. Exporters and the inspector process the spans."""
