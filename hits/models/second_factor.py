"""The app on a person's phone that tells codes: django-otp's, with its key sealed."""

import os

from django_otp.plugins.otp_totp.models import TOTPDevice

from da_platform.sealing import seal, unseal

# What RFC 4226 recommends for the key.
KEY_BYTES = 20


class Authenticator(TOTPDevice):
    """A person has at most one that is confirmed; one that is not is being set up."""

    class Meta:
        proxy = True

    def draw_key(self) -> None:
        """Give it a new key. Only for one that is not in use."""
        self.key = seal(os.urandom(KEY_BYTES), purpose=self._purpose)

    @property
    def bin_key(self) -> bytes:
        return unseal(self.key, purpose=self._purpose)

    def verify_token(self, token: str) -> bool:
        # It is saved in any case: sealed by the key of today, so that earlier ones can be given up.
        self.key = seal(self.bin_key, purpose=self._purpose)
        return super().verify_token(token)

    @property
    def _purpose(self) -> str:
        return f"hits.authenticator.{self.user_id}"
