"""The effects of a change: the handlers of the change feeds of `users` and `posts`.

Both feeds deliver every change at least once, possibly late. Every write here is therefore safe to repeat and never
replaces a newer state: names are conditional on `nameVersion`, which counts a user's renames, copies on a post's
`version`, and deletions on etags, or they are final.
"""
