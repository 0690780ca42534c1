"""How the app can be observed: spans, metrics and the log. Exporters and the inspector process the spans."""
