"""Validation of bearer tokens."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.auth.callers import signed_in as caller_of
from shared.auth.signing_keys import ALGORITHMS
from shared.auth.tokens import TOKEN_LENGTH, Tokens
from shared.errors import NotAuthenticated
from shared.settings import AppSettings
from tests.api import Api, ApiResponse
from tests.auth.conftest import trusting
from tests.auth.issuer import AUDIENCE, Issuer, bearer, by_hand, ec_key, public_pem, rsa_key
from tests.items import unique
from tests.running_app import RunningApp

Refused = Callable[[Issuer], str]


def signed(issuer: Issuer, claims: object, algorithm: str = "RS256", **header: object) -> str:
    """Arbitrary claims signed with the issuer's key."""
    key = ec_key() if algorithm.startswith("ES") else rsa_key()
    content = jwt.PyJWS()
    headers = {"kid": "elliptic" if algorithm.startswith("ES") else "first", **header}
    payload = claims if isinstance(claims, bytes) else jwt.api_jwt.json.dumps(claims).encode()
    return content.encode(payload, key, algorithm=algorithm, headers=headers)


def long_past() -> int:
    return int(time.time()) - 3600


TOKENS: dict[str, tuple[str, Refused]] = {
    "garbage": ("read", lambda issuer: "garbage"),
    "three parts of garbage": ("read", lambda issuer: "a.b.c"),
    "a header that is not an object": ("read", lambda issuer: by_hand([], {})),
    "a deeply nested header": ("read", lambda issuer: _nested(2_000)),
    "expired": ("expired", lambda issuer: issuer.token("ada", exp=long_past())),
    "not valid yet": ("yet", lambda issuer: issuer.token("ada", nbf=int(time.time()) + 3600)),
    "from another issuer": ("another issuer", lambda issuer: issuer.token("ada", iss="https://other.example")),
    "from the issuer with a trailing slash": (
        "another issuer",
        lambda issuer: issuer.token("ada", iss=f"{issuer.url}/"),
    ),
    "for another audience": ("another audience", lambda issuer: issuer.token("ada", aud="api://other")),
    "for other audiences": ("another audience", lambda issuer: issuer.token("ada", aud=["api://other", "api://blog2"])),
    "without exp": ("lacks", lambda issuer: issuer.token("ada", exp=None)),
    "without iss": ("lacks", lambda issuer: issuer.token("ada", iss=None)),
    "without aud": ("lacks", lambda issuer: issuer.token("ada", aud=None)),
    "without sub": ("lacks", lambda issuer: issuer.token("ada", sub=None)),
    "an empty sub": ("subject", lambda issuer: issuer.token("")),
    "a sub of 256 characters": ("subject", lambda issuer: issuer.token("a" * 256)),
    "a sub of two lines": ("subject", lambda issuer: issuer.token("ada\nadmin")),
    "a sub with an unpaired surrogate": ("subject", lambda issuer: signed(issuer, issuer.claims("\ud800"))),
    "a sub that is a number": ("subject", lambda issuer: signed(issuer, issuer.claims("ada") | {"sub": 1})),
    "a sub that is a list": ("subject", lambda issuer: signed(issuer, issuer.claims("ada") | {"sub": ["ada"]})),
    "an infinite exp": ("read", lambda issuer: signed(issuer, issuer.claims("ada") | {"exp": float("inf")})),
    "an exp that is not a number": ("read", lambda issuer: signed(issuer, issuer.claims("ada") | {"exp": {}})),
    "claims that are not an object": ("read", lambda issuer: signed(issuer, ["ada"])),
    "claims that are not JSON": ("read", lambda issuer: signed(issuer, b"\xff")),
    "signed with another key": ("signature", lambda issuer: _other_key(issuer)),
    "changed after signing": ("signature", lambda issuer: _changed(issuer)),
    "unsigned": ("accepted", lambda issuer: by_hand({"alg": "none", "kid": "first"}, issuer.claims("ada"))),
    "unsigned, in capitals": ("accepted", lambda issuer: by_hand({"alg": "NONE", "kid": "first"}, {})),
    "signed with the public key as a secret": ("accepted", lambda issuer: _confused(issuer)),
    "an algorithm that is not a string": ("accepted", lambda issuer: by_hand({"alg": ["RS256"], "kid": "first"}, {})),
    "an algorithm that does not fit the key": ("accepted", lambda issuer: _wrong_kind(issuer)),
    "without a key ID": ("name its key", lambda issuer: by_hand({"alg": "RS256"}, issuer.claims("ada"))),
    "a key ID that is a number": ("read", lambda issuer: by_hand({"alg": "RS256", "kid": 1}, issuer.claims("ada"))),
    "a key ID of 256 characters": ("name its key", lambda issuer: by_hand({"alg": "RS256", "kid": "k" * 256}, {})),
    "an embedded key": ("not the issuer's", lambda issuer: _own_key(issuer)),
    "an unknown critical header": ("", lambda issuer: signed(issuer, issuer.claims("ada"), crit=["b64"], b64=True)),
    "two tokens": ("read", lambda issuer: f"{issuer.token('ada')}, Bearer {issuer.token('ada')}"),
    "too long": ("longer", lambda issuer: "a" * (TOKEN_LENGTH - 10) + ".a.aaaaaaaaaa"),
}


def _nested(depth: int) -> str:
    header = base64.urlsafe_b64encode(b"[" * depth).decode().rstrip("=")
    return f"{header}.e30.AA"


def _other_key(issuer: Issuer) -> str:
    return jwt.encode(issuer.claims("ada"), rsa_key(99), algorithm="RS256", headers={"kid": "first"})


def _changed(issuer: Issuer) -> str:
    header, _, signature = issuer.token("ada").split(".")
    _, claims, _ = issuer.token("grace").split(".")
    return f"{header}.{claims}.{signature}"


def _confused(issuer: Issuer) -> str:
    return by_hand({"alg": "HS256", "kid": "first"}, issuer.claims("ada"), public_pem(rsa_key()))


def _wrong_kind(issuer: Issuer) -> str:
    return jwt.encode(issuer.claims("ada"), ec_key(), algorithm="ES256", headers={"kid": "first"})


def _own_key(issuer: Issuer) -> str:
    own = jwt.algorithms.RSAAlgorithm.to_jwk(rsa_key(99).public_key(), as_dict=True)
    headers = {"kid": "mine", "jwk": own, "jku": "http://127.0.0.1:1/keys", "x5u": "http://127.0.0.1:1/x"}
    return jwt.encode(issuer.claims("ada"), rsa_key(99), algorithm="RS256", headers=headers)


async def refused(api: Api, token: str) -> ApiResponse:
    return await api.create_user(unique("ada"), bearer(token))


@pytest.mark.parametrize("name", TOKENS)
async def test_an_invalid_token_returns_401_with_a_reason_but_no_token_text(
    stranger: Api, oidc_app: RunningApp, issuer: Issuer, name: str
) -> None:
    reason, made = TOKENS[name]
    token = made(issuer)

    answer = await refused(stranger, token)

    assert (answer.status, answer.body["title"]) == (401, "Not authenticated")
    assert reason in answer.body["detail"]
    challenge = re.fullmatch(
        r'Bearer realm="blog", error="invalid_token", error_description="([\x20-\x21\x23-\x5b\x5d-\x7e]+)"',
        answer.headers["www-authenticate"],
    )
    assert challenge is not None
    assert challenge[1] == answer.body["detail"]
    parts = [part for part in token.split(".") if len(part) > 8]
    assert not any(part.encode() in answer.content for part in parts)
    assert not any(oidc_app.log_lines(containing=part) for part in parts)


@pytest.mark.parametrize(
    "authorization", [None, "", "Basic YWRhOnNlY3JldA==", "Bearerabc", "bearer: abc", "Token a.b.c", ","]
)
async def test_a_missing_token_returns_401_with_a_challenge(stranger: Api, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}

    answer = await stranger.create_user(unique("ada"), headers)

    assert (answer.status, answer.headers["www-authenticate"]) == (401, 'Bearer realm="blog"')


@pytest.mark.parametrize("authorization", ["Bearer", "Bearer "])
async def test_an_empty_token_is_invalid(stranger: Api, authorization: str) -> None:
    answer = await stranger.create_user(unique("ada"), {"Authorization": authorization})

    assert answer.status == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


@pytest.mark.parametrize("algorithm", [*ALGORITHMS[:6], "ES256"])
async def test_a_valid_token_is_accepted(stranger: Api, issuer: Issuer, algorithm: str) -> None:
    subject = unique("ada")

    answer = await stranger.create_user(unique("ada"), bearer(signed(issuer, issuer.claims(subject), algorithm)))

    assert answer.status == 201
    assert answer.body["id"] == str(caller_of(issuer.url, subject).user)


@pytest.mark.parametrize(
    "changed",
    [
        {"exp": -20},
        {"nbf": 20},
        {"iat": 20},
        {"nbf": None},
        {"aud": ["api://other", AUDIENCE]},
        {"sub": "a" * 255},
        {"sub": "auth0|5f7c8ec7c33c6c004bbafe82"},
    ],
    ids=str,
)
async def test_clock_skew_and_missing_optional_claims_are_accepted(
    stranger: Api, issuer: Issuer, changed: dict[str, object]
) -> None:
    now = int(time.time())
    claims = {name: now + value if isinstance(value, int) else value for name, value in changed.items()}

    answer = await stranger.send(
        "PUT", "/api/users/unknown", body={"username": "ada"}, headers=bearer(issuer.token("ada", **claims))
    )

    assert answer.status == 403


async def test_the_scheme_is_case_insensitive(stranger: Api, issuer: Issuer) -> None:
    answer = await stranger.create_user(unique("ada"), {"Authorization": f"bEARER   {issuer.token(unique('ada'))}"})

    assert answer.status == 201


async def test_two_authorization_headers_are_rejected(stranger: Api, oidc_app: RunningApp, issuer: Issuer) -> None:
    token = issuer.token("ada")
    request = [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]

    async with stranger.session.post(f"{oidc_app.url}/api/users", json={"username": "ada"}, headers=request) as answer:
        assert answer.status == 401


@given(
    header=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from([*ALGORITHMS, "none", "HS256"]),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["alg", "kid", "crit", "b64", "typ"]), inner),
    ),
    claims=st.recursive(st.none() | st.text() | st.floats(), lambda inner: st.dictionaries(st.text(), inner)),
    tail=st.text(),
)
async def test_arbitrary_headers_are_rejected_without_failing(
    issuer: Issuer, header: object, claims: object, tail: str
) -> None:
    tokens = Tokens(AppSettings(**trusting(issuer)))

    for token in (tail, by_hand(header, claims) + tail, by_hand(header, claims, b"secret")):
        with pytest.raises(NotAuthenticated) as refusal:
            await tokens.caller_of({"Authorization": f"Bearer {token}"})
        assert refusal.value.__cause__ is None
