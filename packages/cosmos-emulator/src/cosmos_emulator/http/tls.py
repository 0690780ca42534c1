"""A self-signed certificate for https, which azure-core requires for Microsoft Entra ID tokens.

The Python SDK does not verify localhost's (azure-cosmos aio/_asynchronous_request.py).
"""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID: Final = timedelta(days=365)
_CLOCK_SKEW: Final = timedelta(hours=1)


def server_context(host: str, certificate: Path) -> ssl.SSLContext:
    """Create a key and its certificate; write only the certificate to a PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = _self_signed(host, key).public_bytes(serialization.Encoding.PEM)
    certificate.write_bytes(public)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    # ssl loads chains only from files, so the key is in a file briefly.
    chain = certificate.with_suffix(".key")
    chain.touch(mode=0o600)
    try:
        chain.write_bytes(private + public)
        context.load_cert_chain(chain)
    finally:
        chain.unlink()
    return context


def _self_signed(host: str, key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Cosmos DB emulator")])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _VALID)
        .add_extension(x509.SubjectAlternativeName(_names(host)), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )


def _names(host: str) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = []
    for one in sorted({host, "localhost", "127.0.0.1", "::1"}):
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(one)))
        except ValueError:
            names.append(x509.DNSName(one))
    return names
