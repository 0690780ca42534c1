"""The certificate of --tls."""

from __future__ import annotations

import ssl
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import ClientSession, TCPConnector
from cosmos_emulator import CosmosEmulator, EmulatorSettings
from cosmos_emulator.http import tls
from cryptography import x509


async def _certificate(settings: EmulatorSettings) -> bytes:
    """Start an emulator; return its certificate, which a client trusts."""
    settings.tls = True
    async with CosmosEmulator(settings) as emulator:
        assert emulator.certificate is not None
        context = ssl.create_default_context(cafile=emulator.certificate)
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # the default of Python 3.13
        trusting = TCPConnector(ssl=context)
        health = f"{emulator.endpoint}_emulator/health"
        async with ClientSession(connector=trusting) as session, session.get(health) as response:
            assert response.status == 200
            async with session.get(f"{emulator.endpoint}_explorer/emulator.pem") as served:
                assert await served.read() == emulator.certificate.read_bytes()
        return emulator.certificate.read_bytes()


async def test_a_certificate_is_used_again_at_the_next_start(tmp_path: Path) -> None:
    first = await _certificate(EmulatorSettings(data_dir=tmp_path))

    assert await _certificate(EmulatorSettings(data_dir=tmp_path)) == first


async def test_a_certificate_is_replaced_before_it_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls, "_VALID", timedelta(days=6))
    first = await _certificate(EmulatorSettings(data_dir=tmp_path))

    assert await _certificate(EmulatorSettings(data_dir=tmp_path)) != first


async def test_who_has_the_key_can_sign_no_certificate_that_clients_trust(tmp_path: Path) -> None:
    certificate = x509.load_pem_x509_certificate(await _certificate(EmulatorSettings(data_dir=tmp_path)))

    assert not certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    usage = certificate.extensions.get_extension_for_class(x509.KeyUsage).value
    assert not usage.key_cert_sign


@pytest.mark.parametrize("damage", ["certificate.pem", "certificate.key"])
async def test_a_missing_or_damaged_file_is_replaced(tmp_path: Path, damage: str) -> None:
    first = await _certificate(EmulatorSettings(data_dir=tmp_path))
    if damage.endswith("pem"):
        (tmp_path / damage).write_text("damaged")
    else:
        (tmp_path / damage).unlink()

    assert await _certificate(EmulatorSettings(data_dir=tmp_path)) != first


async def test_a_new_name_needs_a_new_certificate(tmp_path: Path) -> None:
    first = await _certificate(EmulatorSettings(data_dir=tmp_path))

    second = await _certificate(EmulatorSettings(data_dir=tmp_path, tls_names=("cosmos", "10.0.0.5")))

    named = x509.load_pem_x509_certificate(second).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert second != first
    assert {"cosmos", "localhost"} <= set(named.value.get_values_for_type(x509.DNSName))
    assert "10.0.0.5" in map(str, named.value.get_values_for_type(x509.IPAddress))
    assert await _certificate(EmulatorSettings(data_dir=tmp_path)) == second
