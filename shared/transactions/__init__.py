"""The transactions of `posts` and `feed`, in two ways with the same promises: by transactional batches, which cost less
and need no script in the database, or by stored procedures and a trigger. `BLOG_TRANSACTIONS` chooses."""
