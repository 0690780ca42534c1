"""The assumed load.

Data per user follows the article: 5 to 50 posts, up to 25 comments and 100 likes per post. Spread evenly over `years`,
this is about one command per registered user and day.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

DAY_S: Final = 86_400
YEAR_DAYS: Final = 365
SIZES: Final = (100_000, 10_000_000, 1_000_000_000)

# Names as in bench/request_charges.py.
CREATE_USER, RENAME, GET_USER = "C1 create a user", "C1 edit a user", "Q1 retrieve a user"
CREATE_POST, EDIT_POST, GET_POST = "C2 create a post", "C2 edit a post", "Q2 retrieve a post"
USER_POSTS, COMMENT, COMMENTS = "Q3 list a user's posts", "C3 create a comment", "Q4 list a post's comments"
LIKE, LIKES, FRONT_PAGE = "C4 like a post", "Q5 list a post's likes", "Q6 list the most recent posts"


@dataclass(frozen=True)
class Load:
    """Mean rates over all registered users and the day; the busiest second has `peak` times the mean."""

    years: float = 5.0
    posts_per_user: float = 27.5
    comments_per_post: float = 12.5
    likes_per_post: float = 50.0
    edits_per_post: float = 0.1
    renames_per_user: float = 0.5
    reads_per_command: float = 100.0
    read_mix: dict[str, float] = field(
        default_factory=lambda: {
            GET_USER: 0.03,
            GET_POST: 0.40,
            USER_POSTS: 0.07,
            COMMENTS: 0.15,
            LIKES: 0.05,
            FRONT_PAGE: 0.30,
        }
    )
    peak: float = 3.0
    # Busiest second relative to its hour's mean. Autoscale bills each hour's maximum.
    peak_in_hour: float = 1.25
    # Comments and likes arrive evenly over this period; the post is in the feed at first.
    answered_within_s: float = DAY_S

    def per_user(self) -> dict[str, float]:
        """Commands per user over `years`."""
        posts = self.posts_per_user
        return {
            CREATE_USER: 1.0,
            RENAME: self.renames_per_user,
            CREATE_POST: posts,
            EDIT_POST: posts * self.edits_per_post,
            COMMENT: posts * self.comments_per_post,
            LIKE: posts * self.likes_per_post,
        }

    def commands_per_s(self, users: float) -> dict[str, float]:
        lifetime_s = self.years * YEAR_DAYS * DAY_S
        return {name: users * count / lifetime_s for name, count in self.per_user().items()}

    def queries_per_s(self, users: float) -> dict[str, float]:
        commands = sum(self.commands_per_s(users).values())
        return {name: commands * self.reads_per_command * share for name, share in self.read_mix.items()}

    def share_in_feed(self, posts_per_s: float, feed_length: int) -> float:
        """Share of comments and likes on posts in the feed."""
        return min(1.0, feed_length / posts_per_s / self.answered_within_s)
