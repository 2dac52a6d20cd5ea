"""Encrypt small secrets that the platform needs to read again, with its secret key, which is not in backups."""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.crypto import salted_hmac

from .exceptions import SealBroken

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

# The nonce size of AES-GCM, with a new nonce for each seal.
_NONCE_BYTES = 12


def seal(secret: bytes, *, purpose: str) -> str:
    """Encrypt and sign. What is sealed for one purpose cannot be opened for another."""
    nonce = os.urandom(_NONCE_BYTES)
    sealed = nonce + _cipher(settings.SECRET_KEY, purpose).encrypt(nonce, secret, None)
    return urlsafe_b64encode(sealed).decode()


def unseal(sealed: str, *, purpose: str) -> bytes:
    """Open what was sealed with the secret key or an accepted earlier one, or raise `SealBroken`."""
    # Imported here because it loads slowly and only logins need it.
    from cryptography.exceptions import InvalidTag

    content = urlsafe_b64decode(sealed)
    for key in accepted_keys():
        try:
            return _cipher(key, purpose).decrypt(
                content[:_NONCE_BYTES], content[_NONCE_BYTES:], None
            )
        except InvalidTag:
            continue
    raise SealBroken("It was sealed with a secret key that is not accepted here.")


def accepted_keys() -> list[str]:
    return [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]


def _cipher(key: str, purpose: str) -> "AESGCM":
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(salted_hmac(purpose, b"", secret=key, algorithm="sha256").digest())
