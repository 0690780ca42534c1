"""A blog made up from a seed: who is in it (names), what they say (prose), all of it as items (plan), into the database
(writing)."""
