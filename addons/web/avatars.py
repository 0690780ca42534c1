"""Avatars: a small drawing per user, derived from the user ID, so that a rename keeps it."""

from __future__ import annotations

from hashlib import sha256

# Background, large shape, small shape.
_PALETTES = (
    ("#264653", "#2a9d8f", "#e9c46a"),
    ("#f4d6a0", "#d1603d", "#4a2c2a"),
    ("#1d3557", "#e07a5f", "#f2e8cf"),
    ("#dfe7d8", "#5b8e7d", "#f4a259"),
    ("#3d405b", "#81b29a", "#f2cc8f"),
    ("#f1c9c0", "#9c3848", "#47a8bd"),
    ("#cfe0e8", "#33658a", "#f6ae2d"),
    ("#5f0f40", "#fb8b24", "#e8d7f1"),
    ("#e9d8a6", "#0a9396", "#bb3e03"),
    ("#22223b", "#c9ada7", "#e56b6f"),
    ("#d8d2ee", "#5e548e", "#ffb4a2"),
    ("#14342b", "#bbdfc5", "#ff579f"),
)


def avatar(user_id: str) -> str:
    """The drawing as SVG, without attributes that a content security policy forbids."""
    seed = sha256(user_id.encode()).digest()
    ground, large, small = _PALETTES[seed[0] % len(_PALETTES)]
    x, y, radius = 6 + seed[1] % 21, 6 + seed[2] % 21, 9 + seed[3] % 5
    angle = seed[4] % 24 * 15
    shapes = (
        "M16 16h16v16z",
        "M16 4a12 12 0 0 1 0 24z",
        "M18 18h9v9h-9z",
        "M16 2h6v28h-6z",
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="avatar" viewBox="0 0 32 32" width="40" height="40" '
        f'aria-hidden="true"><path fill="{ground}" d="M0 0h32v32H0z"/>'
        f'<circle cx="{x}" cy="{y}" r="{radius}" fill="{large}"/>'
        f'<path fill="{small}" d="{shapes[seed[5] % len(shapes)]}" transform="rotate({angle} 16 16)"/></svg>'
    )
