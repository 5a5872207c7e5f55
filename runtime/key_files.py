"""CURVE keys in files: one line each, saying which half it is.

A server's secret half stays with it, in NAME, which no other user may read. The public half,
NAME.pub, is for the clients: each that has it can connect. Both are
written for their owner alone; a secret half that others may read is refused, as by ssh.
"""

import os
import shlex
import stat
from dataclasses import dataclass
from pathlib import Path

import zmq

PUBLIC, SECRET = "saltus-public-key", "saltus-secret-key"  # first word of the line; then the key
PUBLIC_SUFFIX = ".pub"


@dataclass(frozen=True)
class CurveKeys:
    """A CURVE key pair (Z85 text): `public` admits clients, `secret` is the server's."""

    public: str
    secret: str

    @classmethod
    def generate(cls) -> "CurveKeys":
        """A fresh random pair."""
        public, secret = zmq.curve_keypair()
        return cls(public.decode(), secret.decode())


def public_file(secret_file: Path) -> Path:
    """Path of the public half of a secret file's pair."""
    return secret_file.with_name(secret_file.name + PUBLIC_SUFFIX)


def make_key_files(secret_file: Path) -> CurveKeys:
    """Write a fresh pair: `secret_file` and its public half beside it.

    Files have mode 0600; a folder that is not there yet is made with mode 0700.

    Raises ValueError where one of them cannot be written or is there already.
    """
    keys = CurveKeys.generate()
    _write(public_file(secret_file), f"{PUBLIC} {keys.public}\n")
    _write(secret_file, f"{SECRET} {keys.secret}\n")
    return keys


def read_secret(secret_file: Path) -> CurveKeys:
    """The pair of a secret half. Raises ValueError for a file that holds none, or is not private.

    A file of another user is not checked.
    """
    secret = _read(secret_file, SECRET, "the public half; give the secret one, without .pub")
    return CurveKeys(zmq.curve_public(secret.encode()).decode(), secret)


def read_public(file: Path) -> str:
    """The public half in a file (Z85 text). Raises ValueError for a file that holds none."""
    return _read(file, PUBLIC, "the secret half, which stays with its server; give NAME.pub")


def _read(file: Path, wanted: str, other: str) -> str:
    try:
        with file.open("rb") as opened:
            status, content = os.fstat(opened.fileno()), opened.read()
    except OSError as error:
        raise ValueError(f"key file {file}: {error.strerror}") from None
    words = content.decode("ascii", "replace").split()
    if len(words) == 2 and words[0] in (PUBLIC, SECRET) and _is_key(words[1]):
        if words[0] == wanted:
            if wanted == SECRET:
                _check_private(file, status)
            return words[1]
        raise ValueError(f"key file {file} holds {other}")
    raise ValueError(f"key file {file} holds no key; `saltus serve --key-file NAME` writes a pair")


def _check_private(file: Path, status: os.stat_result) -> None:
    """Raise ValueError for a file of this user's that others may read, write or run."""
    mode = stat.S_IMODE(status.st_mode)
    if status.st_uid == os.getuid() and mode & 0o077:
        remedy = f"chmod 600 {shlex.quote(str(file))}"
        raise ValueError(f"key file {file} is open to others (mode {mode:04o}): {remedy}")


def _is_key(text: str) -> bool:
    try:
        return len(text) == 40 and text.isascii() and bool(zmq.curve_public(text.encode()))
    except (zmq.ZMQError, ValueError):
        return False


def _write(file: Path, text: str) -> None:
    """Write a file that must not be there yet, at no time readable by others."""
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(text)
    except OSError as error:
        raise ValueError(f"key file {file}: {error.strerror}") from None
