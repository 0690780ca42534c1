"""Reset, snapshots, export and import: the contents of an account as a whole."""
