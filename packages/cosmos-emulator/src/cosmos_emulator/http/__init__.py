"""HTTP: the server, the routes, and everything between a request and its operation."""
