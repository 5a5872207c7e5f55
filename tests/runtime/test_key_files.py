"""Keys in files: the pair reads back, and a file that is not the one that is wanted says so."""

import os
import stat

import pytest

from runtime.key_files import make_key_files, public_file, read_public, read_secret
from tests.refusals import refusal

PUBLIC = b"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"  # the example of zmq_curve(7)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "new" / "lab.key"


def test_a_pair_reads_back_from_its_halves(file):
    keys = make_key_files(file)
    assert read_secret(file) == keys
    assert read_public(public_file(file)) == keys.public
    assert public_file(file).name == "lab.key.pub"


def test_nobody_else_reads_what_is_written(file):
    before = os.umask(0)
    try:
        make_key_files(file)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (file, public_file(file), file.parent)]
    assert modes == [0o600, 0o600, 0o700]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_secret_half_that_is_open_to_others_is_refused_with_the_remedy(file, mode):
    keys = make_key_files(file)
    file.chmod(mode)
    assert f"{mode:04o}" in refusal(ValueError, read_secret, file)
    file.chmod(0o400)
    assert read_secret(file) == keys
    public_file(file).chmod(0o644)
    assert read_public(public_file(file)) == keys.public


def test_no_file_is_written_over(file):
    make_key_files(file)
    before = file.read_text()
    assert "lab.key" in refusal(ValueError, make_key_files, file)
    assert file.read_text() == before
    file.unlink()
    assert "lab.key.pub" in refusal(ValueError, make_key_files, file)
    assert not file.exists()


def test_the_halves_are_not_mistaken(file):
    make_key_files(file)
    assert "NAME.pub" in refusal(ValueError, read_public, file)
    with pytest.raises(ValueError):
        read_secret(public_file(file))


@pytest.mark.parametrize("content", [
    b"", b"saltus-public-key", b"saltus-public-key " + b"x" * 39, b"\xff\xfe", b"x" * 40,
    b"saltus-public-key " + b"~" * 40, b"other-key " + PUBLIC,
    b"saltus-public-key " + 2 * (PUBLIC + b" "),
])  # fmt: skip
def test_what_is_no_key_says_how_one_is_made(tmp_path, content):
    file = tmp_path / "k"
    file.write_bytes(content)
    for read in (read_public, read_secret):
        assert "--key-file" in refusal(ValueError, read, file)


def test_a_file_that_cannot_be_read_is_one_line(tmp_path):
    for file in (tmp_path / "none", tmp_path):
        assert str(file) in refusal(ValueError, read_public, file)
