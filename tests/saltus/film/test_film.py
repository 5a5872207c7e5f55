"""`saltus film`: the film has the frames that were asked for, and shows what the robot did."""

import shutil

import av
import numpy as np
import pytest
from PIL import Image
from pytest import approx

from saltus.cli import main
from saltus.film import film as film_module
from tests.saltus.film.fake_run import END, PUSH_AT, make_run
from tests.tables import table

SIZE = ["--size", "256x192"]
PER_SECOND = 10


pytestmark = pytest.mark.usefixtures("graphics")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("film") / "run")


def film(printed, run, file, *options):
    result = printed("film", str(run), str(file), "--fps", str(PER_SECOND), *SIZE, *options)
    assert result["file"] == str(file) and result["bytes"] == file.stat().st_size
    assert [path.name for path in file.parent.iterdir()] == [file.name]  # nothing else is left
    return result


def pictures(file):
    """All frames of an mp4 (n, height, width, 3), without the line of text on top."""
    with av.open(str(file)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    return np.array(frames, dtype=float)[:, 32:]


def orange(frame):
    """Pixels with the colour of a push."""
    red, green, blue = np.moveaxis(frame, -1, 0)
    return int(((red > 140) & (blue < 0.4 * red) & (green < 0.7 * red)).sum())


def blue_line(frame):
    """Pixels with the colour of a plan."""
    red, _, blue = np.moveaxis(frame, -1, 0)
    return int((blue > red + 70).sum())


@pytest.fixture(scope="module")
def shown(run, tmp_path_factory):
    """A film of the whole run."""
    file = tmp_path_factory.mktemp("shown") / "a.mp4"
    options = ["--fps", str(PER_SECOND), "--camera", "side", *SIZE]
    assert main.run(["film", str(run), str(file), *options]) == 0
    return file


def test_an_mp4_shows_the_whole_run_with_its_push_and_its_plan(shown):
    with av.open(str(shown)) as container:
        (stream,) = container.streams.video
        assert stream.codec_context.name == "h264" and stream.average_rate == PER_SECOND
        assert (stream.width, stream.height) == (256, 192)
    frames = pictures(shown)
    assert len(frames) == round(END * PER_SECOND)
    pushed = round(PUSH_AT * PER_SECOND)
    assert max(map(orange, frames[:pushed])) == 0
    assert min(map(orange, frames[pushed : pushed + 3])) > 20
    assert blue_line(frames[-1]) > 10


def test_runs_stand_side_by_side_with_forces_seen_from_behind(run, tmp_path, printed):
    other = make_run(tmp_path / "other", speed=0.0)
    (tmp_path / "films").mkdir()
    two = tmp_path / "films" / "a.mp4"
    film(printed, run, two, "--beside", str(other), "--from", "0.7")
    left, right = np.split(pictures(two), 2, axis=2)
    assert left.shape == right.shape and left.shape[2] == 256
    for half in (left, right):
        red, green, blue = np.moveaxis(half[0], -1, 0)
        assert ((green > red + 30) & (green > blue + 30)).sum() > 10  # forces
    assert np.abs(left[-1] - right[-1]).max() > 50.0  # one walks, one stands


def test_slow_motion_has_more_frames_and_a_gif_opens(run, tmp_path, printed):
    file = tmp_path / "a.GIF"
    slow = "--speed 0.25 --from 0.2 --to 0.4 --fps 30".split()
    result = film(printed, run, file, *slow)
    assert result["frames"] == 24 and result["seconds"] == approx(0.8)
    with Image.open(file) as gif:
        assert gif.size == (256, 192) and gif.format == "GIF"
        total = 0
        for index in range(gif.n_frames):
            gif.seek(index)
            total += gif.info["duration"]
    assert 16 < index + 1 <= 24  # equal pictures are one
    assert total == 800  # [ms]: 30 frames a second, though GIF counts in hundredths


@pytest.mark.parametrize("options, words", table("""
    a.avi => .mp4 or .gif
    a => .mp4 or .gif
    folder.mp4 => is a folder
    nowhere/a.mp4 => cannot be written
    file/a.mp4 => cannot be written
    a.mp4 --camera left => side, front, behind, top
    a.mp4 --camera 0,0,nan => AZIMUTH,ELEVATION,DISTANCE
    a.mp4 --size big => 960x540
    a.mp4 --size 101x100 => even
    a.mp4 --speed nan => or equal to
    a.gif --fps 60 => 1 to 50
    a.mp4 --fps 0 => 1 to 240
    a.mp4 --from 2 => 0.00 to 1.00 s
    a.mp4 --to -1 => 0.00 to 1.00 s
    a.mp4 --from nan => 0.00 to 1.00 s
    a.gif --speed 0.001 => too many
"""))  # fmt: skip
def test_bad_options_are_one_line(run, tmp_path, refuses, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "file").touch()
    refuses(f"film {run} {options}", words)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder.mp4"]


def test_a_recording_that_shows_nothing_is_one_line(run, tmp_path, refused):
    empty = tmp_path / "empty"
    empty.mkdir()
    for folder in (tmp_path / "none", empty):
        assert "no recorded run" in refused("film", str(folder))
    content = (run / "run.mcap").read_bytes()
    shutil.copy(run / "launch.yaml", empty)
    for kept, words in ((b"", "cut off"), (content[:100], "cut off"), (b"no MCAP", "")):
        (empty / "run.mcap").write_bytes(kept)
        assert words in refused("film", str(empty))
        assert {path.name for path in empty.iterdir()} == {"launch.yaml", "run.mcap"}


def test_without_the_encoder_one_line_says_how_to_get_it(run, tmp_path, refused, monkeypatch):
    monkeypatch.setattr(film_module, "find_spec", lambda name: None)
    assert "pip install 'saltus[view]'" in refused("film", str(run), str(tmp_path / "a.mp4"))


def test_a_film_that_fails_leaves_the_old_one(run, tmp_path, refused, monkeypatch, room_for):
    file = tmp_path / "a.mp4"
    file.write_bytes(b"old")
    with room_for(2000):
        assert "File too large" in refused("film", str(run), str(file), *SIZE)
    monkeypatch.setenv("MUJOCO_GL", "none")
    assert "saltus doctor" in refused("film", str(run), str(file), *SIZE)
    assert file.read_bytes() == b"old" and list(tmp_path.iterdir()) == [file]
