"""The web site: pages rendered on the server from the same data functions as the API."""
