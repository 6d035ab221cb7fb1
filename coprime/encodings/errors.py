"""What is wrong with a key file."""

from coprime.errors import CoprimeError


class KeyFileError(CoprimeError):
    """A key file cannot be used; the message gives the reason in one sentence."""

    @property
    def is_of_input(self) -> bool:
        """The file is."""
        return True


class PassphraseMissingError(KeyFileError):
    """The key is encrypted, and no passphrase was given."""

    def __init__(self) -> None:
        super().__init__("the key is encrypted, and there is no passphrase")


class WrongPassphraseError(KeyFileError):
    """What was decrypted is no key: nothing that comes after the decryption raises this."""

    def __init__(self) -> None:
        super().__init__("the passphrase is wrong, or the encrypted key is corrupt")
