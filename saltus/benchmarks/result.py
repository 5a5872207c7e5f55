"""What a benchmark returns."""

from typing import Any, NamedTuple


class BenchResult(NamedTuple):
    """Rows with one measurement each, and the ratio that the benchmark is about.

    Attributes:
        rows: plain mappings with the same keys.
        ratio: ours over the peer's (or over the bound's); None where there is no peer.
        note: a line for people, such as how to install a missing peer.
    """

    rows: list[dict[str, Any]]
    ratio: float | None
    note: str = ""
