"""The app's functions: HTTP endpoints by resource, and the change-feed functions."""
