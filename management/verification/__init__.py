"""Every promise of the blog's data, held against what is stored.

Two passes: the census streams all containers and notes what may be wrong; the examination reads that once more, one
suspect at a time, and reports what is. So what changed between two pages of the census is not reported, and the census
needs to keep no more than a small entry for each user, reservation and post.
"""
