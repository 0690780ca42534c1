"""Callers, and the binding of a signed-in one to his user.

**One subject, one user.** Who signs in is known by an issuer and a subject of its (OpenID Connect Core, section 2: a
subject is unique at its issuer and never given to someone else). The id of his user is computed from the two. So the
creation of the user is itself the binding: `users` refuses a second item with that id, in the one write that creates
the user. No further item could be missing or left over after a crash, no two requests can race to different users, and
"who am I" takes no look-up. A binding item of its own, in a partition of its own, would have been a second write, and
a protocol like that of the usernames to hold the two together.

What it costs, and why that is borne:

- Ids are public. Whoever guesses an issuer's subject can tell that a user is his. Subjects are opaque by the standard;
  an issuer that uses e-mail addresses for subjects gives them away to those who guess them.
- Another issuer's address is another issuer, and its subjects are other users, even when the people are the same ones.
- A user made under `BLOG_AUTH=function-key` has no subject: once users sign in nobody can act as him. His posts stay,
  and a back end with a function key may still act as anybody after the setting is changed back.
- No collisions: ids of that mode are random (version 4), or of version 5 under another namespace
  (shared/data/identity.py); subjects and issuers have no line break, so that no two pairs make one text. Two subjects
  of one issuer made to collide (2^61 tries) would share a user who belongs to whoever made them; to hit somebody else's
  takes 2^122.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

from shared.errors import Forbidden

_SUBJECTS = uuid.UUID("d3a5e9fc-7d0f-4c1c-9a2e-5b8c8b0f2f66")
# OpenID Connect Core, section 2: at most 255 ASCII characters. Those that can be seen; a line break is none.
_SUBJECT = re.compile(r"[\x20-\x7e]{1,255}")


@dataclass(frozen=True)
class Caller:
    """Who sends a request. `user` is the id of the one user he may act as, whether that user exists yet or not; None
    for a back end with a function key, which may act as any."""

    user: uuid.UUID | None

    def must_be(self, user_id: str) -> None:
        """Raises Forbidden unless the caller may act as this user."""
        if not self.is_user(user_id):
            raise Forbidden(f"This takes the user {user_id!r}; the caller is {str(self.user)!r}.")

    def is_user(self, user_id: str) -> bool:
        """Whether the caller may act as this user."""
        return self.user is None or str(self.user) == user_id


BACK_END = Caller(None)
# The caller of a query, who is not asked for his name: he may act as a user that nobody can become.
NOBODY = Caller(uuid.UUID(int=0))


def signed_in(issuer: str, subject: str) -> Caller:
    """The caller whom `issuer` knows as `subject`. `issuer` has no line break."""
    return Caller(uuid.uuid5(_SUBJECTS, f"{issuer}\n{subject}"))


def is_subject(value: object) -> bool:
    """Whether `value` can be a subject."""
    return isinstance(value, str) and _SUBJECT.fullmatch(value) is not None
