"""Make files of pictures that come one by one: films, strips, single pictures."""

from abc import ABC, abstractmethod
from fractions import Fraction
from pathlib import Path
from typing import Any

from PIL import Image

from saltus.film.frames import ARROW_COLOUR, PLAN_COLOUR

_STILL_QUALITY, _WEBP_QUALITY = 78, 55  # of WebP, 0 to 100
_H264 = {"crf": "21", "preset": "medium"}
_GIF_COLOURS = 96
_SHADES = (0.5, 0.7, 0.85, 1.0)  # of what stands out, in the palette of a GIF


class Writer(ABC):
    """Takes pictures of one size; `close` finishes the file."""

    def __init__(self, path: Path, frames_per_second: float) -> None:
        """Of the file ``path``, which shows so many pictures a second."""
        self.path, self.frames_per_second = path, frames_per_second

    @abstractmethod
    def add(self, picture: Image.Image) -> None:
        """Take the next picture.

        Raises:
            OSError: the file cannot be written.
        """

    @abstractmethod
    def close(self) -> None:
        """Finish the file.

        Raises:
            OSError: it cannot be written.
        """


class _Stills(Writer):
    """A file for each picture, ``NAME-0.webp`` and so on, for a ``path`` that ends with NAME."""

    _number = 0

    def add(self, picture: Image.Image) -> None:
        name = f"{self.path.name}-{self._number}.webp"
        picture.save(self.path.with_name(name), "WEBP", quality=_STILL_QUALITY)
        self._number += 1

    def close(self) -> None:
        pass


class _Collector(Writer, ABC):
    """Keeps the pictures until the end."""

    def __init__(self, path: Path, frames_per_second: float) -> None:
        super().__init__(path, frames_per_second)
        self.pictures: list[Image.Image] = []

    def add(self, picture: Image.Image) -> None:
        self.pictures.append(picture)


class _Strip(_Collector):
    """The pictures side by side."""

    def close(self) -> None:
        width, height = self.pictures[0].size
        strip = Image.new("RGB", (width * len(self.pictures), height))
        for column, picture in enumerate(self.pictures):
            strip.paste(picture, (column * width, 0))
        strip.save(self.path)


class _WebP(_Collector):
    """An animated WebP."""

    def close(self) -> None:
        first, *rest = self.pictures
        first.save(self.path, "WEBP", save_all=True, append_images=rest, loop=0,
                   duration=round(1e3 / self.frames_per_second), quality=_WEBP_QUALITY)  # fmt: skip


class _Gif(_Collector):
    """A GIF that repeats.

    All pictures share one palette, and none is dithered: else they would flicker.
    """

    _palette: Image.Image | None = None

    def add(self, picture: Image.Image) -> None:
        if self._palette is None:
            self._palette = _palette(picture)
        plain = Image.Dither.NONE
        super().add(picture.quantize(palette=self._palette, dither=plain))

    def close(self) -> None:
        first, *rest = self.pictures
        # GIF counts hundredths of a second: what rounding takes from one picture the next one gets.
        ends = [round(100 * n / self.frames_per_second) for n in range(len(self.pictures) + 1)]
        durations = [10 * (end - begin) for begin, end in zip(ends, ends[1:], strict=False)]
        first.save(self.path, "GIF", save_all=True, append_images=rest, loop=0, duration=durations)


class _Mp4(Writer):
    """H.264 in MP4; the package ``av`` brings the encoder."""

    def __init__(self, path: Path, frames_per_second: float) -> None:
        """Begin the file; raises OSError where it cannot be."""
        import av  # an extra

        super().__init__(path, frames_per_second)
        self._container = av.open(str(path), "w", options={"movflags": "faststart"})
        rate = Fraction(frames_per_second).limit_denominator(1000)
        self._stream: Any = self._container.add_stream("libx264", rate=rate, options=_H264)
        self._stream.pix_fmt = "yuv420p"  # the only one that every browser plays

    def add(self, picture: Image.Image) -> None:
        import av

        if not self._stream.codec_context.is_open:
            self._stream.width, self._stream.height = picture.size
        self._container.mux(self._stream.encode(av.VideoFrame.from_image(picture)))

    def close(self) -> None:
        self._container.mux(self._stream.encode(None))
        self._container.close()


def _palette(picture: Image.Image) -> Image.Image:
    """The colours of a picture, and those of arrow and plan, which come later."""
    width, height = picture.size
    bright = [colour[:3] for colour in (ARROW_COLOUR, PLAN_COLOUR)]
    swatches = [tuple(round(255 * shade * part) for part in colour)
                for colour in bright for shade in _SHADES]  # fmt: skip
    sample = Image.new("RGB", (width, height + height // 4))
    sample.paste(picture, (0, 0))
    for column, swatch in enumerate(swatches):
        left = column * width // len(swatches)
        sample.paste(swatch, (left, height, width, sample.height))
    return sample.quantize(_GIF_COLOURS, Image.Quantize.MEDIANCUT)


WRITERS: dict[str, type[Writer]] = {
    "": _Stills, "png": _Strip, "webp": _WebP, "gif": _Gif, "mp4": _Mp4,
}  # fmt: skip
