"""The effects of a change: the handlers of the change feeds of `users` and `posts`.

Both feeds deliver every change at least once, possibly late. Every write here is therefore safe to repeat and never
replaces a newer state: it is conditional on `nameVersion`, which counts a user's renames, or on a post's `version`.
"""
