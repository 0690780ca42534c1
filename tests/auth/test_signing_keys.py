"""Signing keys: discovery, caching, rotation, and rate limit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aiohttp import ClientSession
from cryptography.hazmat.primitives.asymmetric import rsa

from shared.auth import signing_keys
from shared.auth.signing_keys import FRESH_S, KEPT_S, SigningKeys
from shared.database.retries import ISSUER_PAUSE_S
from shared.errors import IssuerUnavailable, NotAuthenticated
from shared.settings import Account, AppSettings, AuthMode, Settings
from tests.api import Api
from tests.auth.conftest import trusting
from tests.auth.issuer import AUDIENCE, Issuer, bearer, jwk, rsa_key
from tests.blog import EmulatorThread
from tests.items import unique
from tests.polling import eventually
from tests.running_app import TRIGGERS, RunningApp, provisioned, running_app

A_MOMENT_S = 0.001


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def own_issuer() -> Iterator[Issuer]:
    with Issuer() as listening:
        yield listening


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(own_issuer: Issuer, clock: Clock) -> SigningKeys:
    return SigningKeys(AppSettings(**trusting(own_issuer)), clock=clock)


async def test_keys_are_fetched_once_while_fresh(keys: SigningKeys, own_issuer: Issuer, clock: Clock) -> None:
    await keys.find("first")
    clock.now += FRESH_S - A_MOMENT_S
    await keys.find("first")
    asked = list(own_issuer.asked)
    clock.now += A_MOMENT_S
    await keys.find("first")

    assert asked == ["discovery", "keys"]
    assert own_issuer.asked == asked * 2


async def test_concurrent_requests_share_one_fetch(keys: SigningKeys, own_issuer: Issuer) -> None:
    await asyncio.gather(*(keys.find("first") for _ in range(20)))

    assert own_issuer.asked == ["discovery", "keys"]


async def test_key_rotation_replaces_the_previous_keys(keys: SigningKeys, own_issuer: Issuer, clock: Clock) -> None:
    await keys.find("first")
    own_issuer.rotate()
    clock.now += ISSUER_PAUSE_S

    assert await keys.find(own_issuer.key_id)
    with pytest.raises(NotAuthenticated):
        await keys.find("first")


async def test_unknown_key_ids_cause_at_most_one_fetch_per_interval(
    keys: SigningKeys, own_issuer: Issuer, clock: Clock
) -> None:
    await keys.find("first")
    for second in range(100):
        clock.now = 1000.0 + ISSUER_PAUSE_S * 3 * second / 100
        for number in range(10):
            with pytest.raises(NotAuthenticated):
                await keys.find(f"forged {second} {number}")
            await keys.find("first")

    assert own_issuer.asked.count("keys") == 3


async def test_a_withdrawn_key_is_rejected_once_stale(keys: SigningKeys, own_issuer: Issuer, clock: Clock) -> None:
    await keys.find("first")
    own_issuer.rotate()
    clock.now += FRESH_S

    with pytest.raises(NotAuthenticated):
        await keys.find("first")


async def test_keys_are_used_for_an_hour_while_the_issuer_is_down(
    keys: SigningKeys, own_issuer: Issuer, clock: Clock
) -> None:
    await keys.find("first")
    own_issuer.fault = 503
    clock.now += KEPT_S - A_MOMENT_S
    assert await keys.find("first")

    clock.now += A_MOMENT_S
    with pytest.raises(IssuerUnavailable):
        await keys.find("first")
    with pytest.raises(IssuerUnavailable):
        await keys.find("unknown")


async def test_a_failing_issuer_is_called_once_per_interval_until_it_recovers(
    keys: SigningKeys, own_issuer: Issuer, clock: Clock
) -> None:
    own_issuer.fault = 500
    for _ in range(10):
        with pytest.raises(IssuerUnavailable):
            await keys.find("first")
    own_issuer.fault = None
    with pytest.raises(IssuerUnavailable):
        await keys.find("first")
    clock.now += ISSUER_PAUSE_S

    assert await keys.find("first")
    assert own_issuer.asked == ["discovery", "discovery", "keys"]


async def test_a_slow_issuer_does_not_delay_requests_with_a_cached_key(
    keys: SigningKeys, own_issuer: Issuer, clock: Clock
) -> None:
    await keys.find("first")
    clock.now += FRESH_S
    with own_issuer.slow():
        asking = asyncio.create_task(keys.find("first"))
        await eventually(lambda: own_issuer.asked.count("discovery") == 2)
        async with asyncio.timeout(1):
            assert await keys.find("first")
        assert not asking.done()
    assert await asking


async def test_an_issuer_past_its_deadline_is_unavailable(
    keys: SigningKeys, own_issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signing_keys, "ISSUER_ANSWER_S", 0.05)
    with own_issuer.slow(), pytest.raises(IssuerUnavailable):
        await keys.find("first")


async def test_a_canceled_fetch_counts_as_a_fetch(keys: SigningKeys, own_issuer: Issuer) -> None:
    with own_issuer.slow():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await keys.find("first")
        with pytest.raises(IssuerUnavailable):
            await keys.find("first")

    assert len(own_issuer.asked) <= 1


ANSWERS: dict[str, Callable[[Issuer], Any]] = {
    "another issuer": lambda issuer: issuer.document.update(issuer="https://other.example"),
    "no issuer": lambda issuer: issuer.document.pop("issuer"),
    "keys at an http URL": lambda issuer: issuer.document.update(jwks_uri="http://issuer.example/keys"),
    "keys at a file URL": lambda issuer: issuer.document.update(jwks_uri="file:///etc/passwd"),
    "no jwks_uri": lambda issuer: issuer.document.pop("jwks_uri"),
    "a jwks_uri that is not a string": lambda issuer: issuer.document.update(jwks_uri=[1]),
    "a redirect": lambda issuer: setattr(issuer, "fault", 302),
    "an oversized document": lambda issuer: issuer.document.update(more="x" * 300_000),
    "not an object": lambda issuer: setattr(issuer, "document", []),
    "keys that are not a list": lambda issuer: setattr(issuer, "keys", {"first": 1}),
}


@pytest.mark.parametrize("answer", ANSWERS)
async def test_an_issuer_with_an_unusable_response_is_unavailable(
    keys: SigningKeys, own_issuer: Issuer, answer: str
) -> None:
    ANSWERS[answer](own_issuer)

    with pytest.raises(IssuerUnavailable):
        await keys.find("first")


def short_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=1024)  # noqa: S505 - too short on purpose


UNUSABLE: dict[str, Callable[[], Any]] = {
    "a secret": lambda: {"kty": "oct", "k": "c2VjcmV0", "kid": "bad"},
    "a secret with an asymmetric algorithm": lambda: {"kty": "oct", "k": "c2VjcmV0", "kid": "bad", "alg": "RS256"},
    "for encryption": lambda: jwk(rsa_key(), "bad", use="enc"),
    "for other operations": lambda: jwk(rsa_key(), "bad", key_ops=["encrypt"]),
    "operations that are not a list": lambda: jwk(rsa_key(), "bad", key_ops=1),
    "for a symmetric algorithm": lambda: jwk(rsa_key(), "bad", alg="HS256"),
    "for the none algorithm": lambda: jwk(rsa_key(), "bad", alg="none"),
    "too short": lambda: jwk(short_key(), "bad"),
    "on an unknown curve": lambda: {"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA", "kid": "bad"},
    "malformed": lambda: {"kty": "RSA", "n": "!", "e": [], "kid": "bad"},
    "not an object": lambda: "bad",
    "without an ID": lambda: jwk(rsa_key(), ""),
}


@pytest.mark.parametrize("entry", UNUSABLE)
async def test_unusable_keys_are_skipped(keys: SigningKeys, own_issuer: Issuer, entry: str) -> None:
    own_issuer.keys = [UNUSABLE[entry](), *own_issuer.keys]

    assert set(await keys.find("first")) == {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
    for key_id in ("bad", ""):
        try:
            assert await keys.find(key_id) == {}
        except NotAuthenticated:
            continue


async def test_a_key_is_used_only_with_the_algorithm_it_names(keys: SigningKeys, own_issuer: Issuer) -> None:
    own_issuer.keys.append(jwk(rsa_key(), "named", alg="PS256"))

    assert set(await keys.find("named")) == {"PS256"}


async def test_a_configured_jwks_uri_replaces_discovery(own_issuer: Issuer, clock: Clock) -> None:
    settings = AppSettings(
        auth=AuthMode.OIDC, issuer="https://issuer.example", audience=AUDIENCE, jwks_uri=f"{own_issuer.url}/keys"
    )

    assert await SigningKeys(settings, clock=clock).find("first")
    assert own_issuer.asked == ["keys"]


@pytest.fixture
def own_app(
    emulator: EmulatorThread, own_issuer: Issuer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningApp]:
    settings = provisioned(
        Settings(account=Account(emulator.endpoint, emulator.key), database=unique("oidc"), **trusting(own_issuer))
    )
    with running_app(settings, tmp_path_factory.mktemp("own") / "host.log", disabled=TRIGGERS) as running:
        yield running


async def test_an_unavailable_issuer_fails_commands_but_not_queries(
    session: ClientSession, own_app: RunningApp, own_issuer: Issuer
) -> None:
    own_issuer.fault = 503
    api = Api(session, own_app.url, own_app.openapi, headers=bearer(own_issuer.token("ada")))

    refused, listed, health = await api.create_user(unique("ada")), await api.get_feed(), await api.get_health()

    assert (refused.status, refused.body["title"], refused.headers["retry-after"]) == (503, "Issuer unavailable", "5")
    assert (listed.status, health.status) == (200, 200)
    [line] = own_app.log_lines(containing="issuer unavailable")
    assert 'reason="it answered 503"' in line
