"""The authenticator app of a person: django-otp's device, with its key encrypted."""

import os

from django_otp.plugins.otp_totp.models import TOTPDevice

from da_platform.sealing import seal, unseal

# Recommended by RFC 4226.
KEY_BYTES = 20


class Authenticator(TOTPDevice):
    """A person has at most one that is confirmed. An unconfirmed one is being set up."""

    class Meta:
        proxy = True

    def draw_key(self) -> None:
        """Set a new key. Only for a device that is not in use."""
        self.key = seal(os.urandom(KEY_BYTES), purpose=self._purpose)

    @property
    def bin_key(self) -> bytes:
        return unseal(self.key, purpose=self._purpose)

    def verify_token(self, token: str) -> bool:
        # The device is saved anyway, so seal its key with the current secret key: earlier ones can then be dropped.
        self.key = seal(self.bin_key, purpose=self._purpose)
        return super().verify_token(token)

    @property
    def _purpose(self) -> str:
        return f"hits.authenticator.{self.user_id}"
