"""A self-signed certificate for https, which azure-core requires for Microsoft Entra ID tokens.

The Python SDK does not verify localhost's (azure-cosmos aio/_asynchronous_request.py). Other clients can trust it
although it is not a CA's: OpenSSL with Python and Node.js, Go (crypto/x509/verify.go) and Java (PKIXValidator.java).
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID: Final = timedelta(days=365)
_RENEWED_BEFORE: Final = timedelta(days=7)
_CLOCK_SKEW: Final = timedelta(hours=1)
# The key is stored, so it must not sign certificates for other names, which clients would trust.
_USAGE: Final = x509.KeyUsage(
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=False,
    crl_sign=False,
    encipher_only=False,
    decipher_only=False,
)


def server_context(names: Iterable[str], certificate: Path) -> ssl.SSLContext:
    """Load the key and the certificate for these host names and addresses, next to each other in PEM files.

    They are created unless they exist, name all of these, and are valid for another week. So clients need to trust a
    certificate only once per data directory.
    """
    key_file = certificate.with_suffix(".key")
    subjects = _subjects(names)
    if not (key_file.exists() and _still_serves(certificate, subjects)):
        key = ec.generate_private_key(ec.SECP256R1())
        key_file.unlink(missing_ok=True)
        key_file.touch(mode=0o600)
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        certificate.write_bytes(_self_signed(subjects, key).public_bytes(serialization.Encoding.PEM))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key_file)
    return context


def _still_serves(certificate: Path, subjects: list[x509.GeneralName]) -> bool:
    try:
        stored = x509.load_pem_x509_certificate(certificate.read_bytes())
        named = stored.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        usage = stored.extensions.get_extension_for_class(x509.KeyUsage).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    if usage != _USAGE or not set(subjects) <= set(named):
        return False
    return stored.not_valid_after_utc > datetime.now(UTC) + _RENEWED_BEFORE


def _self_signed(subjects: list[x509.GeneralName], key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
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
        .add_extension(x509.SubjectAlternativeName(subjects), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_USAGE, critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=True)
        .sign(key, hashes.SHA256())
    )


def _subjects(names: Iterable[str]) -> list[x509.GeneralName]:
    found: list[x509.GeneralName] = []
    for one in sorted({*names, "localhost", "127.0.0.1", "::1"}):
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(one)))
        except ValueError:
            found.append(x509.DNSName(one))
    return found
