"""HTTP triggers: templates and routing, requests in, responses out."""
