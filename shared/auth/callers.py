"""Callers and the user they act as.

A signed-in caller has exactly one user, whose ID is derived from the issuer and subject (OpenID Connect Core, section
2). Creating the user is therefore the binding: `users` rejects a second item with that ID. No lookup or second write
is needed, and a crash cannot leave half a binding. Consequences:

- User IDs are public, so anyone who guesses a subject can find its user. Avoid issuers with email subjects.
- Changing the issuer's URL changes every caller's user.
- Nobody can sign in as a user created under `BLOG_AUTH=function-key`.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass

from shared.errors import Forbidden

_NAMESPACE = uuid.UUID("d3a5e9fc-7d0f-4c1c-9a2e-5b8c8b0f2f66")
# OpenID Connect Core, section 2: at most 255 ASCII characters. Printable only, so it cannot contain a line break.
_SUBJECT = re.compile(r"[\x20-\x7e]{1,255}")


@dataclass(frozen=True)
class Caller:
    """The sender of a request. `user` is the ID of the user they act as, which may not exist yet; None for any."""

    user: uuid.UUID | None

    def require_user(self, user_id: str) -> None:
        """Raise Forbidden unless the caller can act as this user."""
        if not self.is_user(user_id):
            raise Forbidden(f"You cannot act as the user {user_id!r}; your user ID is {str(self.user)!r}.")

    def is_user(self, user_id: str) -> bool:
        """Whether the caller can act as this user."""
        return self.user is None or str(self.user) == user_id


# A trusted back end with a function key.
BACK_END = Caller(None)
# The caller of a query. No user can have this ID.
ANONYMOUS = Caller(uuid.UUID(int=0))


def signed_in(issuer: str, subject: str) -> Caller:
    """The caller that `issuer` identifies as `subject`. Neither may contain a line break."""
    return Caller(uuid.uuid5(_NAMESPACE, f"{issuer}\n{subject}"))


def is_subject(value: object) -> bool:
    """Whether `value` is a valid subject."""
    return isinstance(value, str) and _SUBJECT.fullmatch(value) is not None
