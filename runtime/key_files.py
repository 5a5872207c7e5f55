"""CURVE keys in files: one line each, saying which half it is.

A server's secret half stays with it, in NAME, which nobody else may read. The public half,
NAME.pub, is for those who are to be let in: who has it can ask, so hand it to nobody else.
"""

import os
from pathlib import Path

import zmq

from runtime.endpoints import CurveKeys

PUBLIC, SECRET = "saltus-public-key", "saltus-secret-key"  # first word of the line; then the key
PUBLIC_SUFFIX = ".pub"


def public_file(secret_file: Path) -> Path:
    """Where the public half of a secret file's pair stands."""
    return secret_file.with_name(secret_file.name + PUBLIC_SUFFIX)


def make_key_files(secret_file: Path) -> CurveKeys:
    """Write a fresh pair: `secret_file` (mode 0600) and its public half beside it.

    Raises ValueError where one of them cannot be written or is there already.
    """
    keys = CurveKeys.generate()
    _write(public_file(secret_file), f"{PUBLIC} {keys.public}\n", 0o644)
    _write(secret_file, f"{SECRET} {keys.secret}\n", 0o600)
    return keys


def read_secret(secret_file: Path) -> CurveKeys:
    """The pair of a secret half. Raises ValueError for a file that holds none."""
    secret = _read(secret_file, SECRET, "the public half; give the secret one, without .pub")
    return CurveKeys(zmq.curve_public(secret.encode()).decode(), secret)


def read_public(file: Path) -> str:
    """The public half in a file (Z85 text). Raises ValueError for a file that holds none."""
    return _read(file, PUBLIC, "the secret half, which stays with its server; give NAME.pub")


def _read(file: Path, wanted: str, other: str) -> str:
    try:
        words = file.read_text("ascii").split()
    except OSError as error:
        raise ValueError(f"key file {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        words = []
    if len(words) == 2 and words[0] in (PUBLIC, SECRET) and _is_key(words[1]):
        if words[0] == wanted:
            return words[1]
        raise ValueError(f"key file {file} holds {other}")
    raise ValueError(f"key file {file} holds no key; `saltus serve --key-file NAME` writes a pair")


def _is_key(text: str) -> bool:
    try:
        return len(text) == 40 and bool(zmq.curve_public(text.encode()))
    except (zmq.ZMQError, ValueError):
        return False


def _write(file: Path, text: str, mode: int) -> None:
    """Write a file that must not be there yet, readable by nobody before it has its mode."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w") as out:
            out.write(text)
    except OSError as error:
        raise ValueError(f"key file {file}: {error.strerror}") from None
