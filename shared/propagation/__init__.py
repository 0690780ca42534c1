"""What follows from a change: the reactions to the change feeds of `users` and `posts`.

Both feeds deliver at least once, late and in parts after a crash. So every write here is safe to repeat, and an older
state never overwrites a newer one: names carry the number of their rename (`nameVersion`), copies of posts the post's
`version`, and each write of either is conditional on the number being lower.
"""
