"""The functions of the app: HTTP endpoints by resource, and the reactions to the change feeds."""
