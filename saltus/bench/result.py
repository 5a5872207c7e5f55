"""What a benchmark returns."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from saltus.studies.engine import Criterion


class BenchResult(NamedTuple):
    """Rows with one measurement each, and the ratio that the benchmark is about.

    Attributes:
        rows: plain mappings with the same keys.
        ratio: ours over the peer's (or over the bound's); None where there is no peer.
        note: for people, such as how to install a missing peer.
        figures: pictures by their file name without ending.
        table: the rows as a person reads them; as they are where empty.
        extra: further keys of the JSON object.
        criteria: the bounds, which decide no exit status.
    """

    rows: list[dict[str, Any]]
    ratio: float | None
    note: str = ""
    figures: Mapping[str, "Figure"] = {}
    table: Sequence[dict[str, Any]] = ()
    extra: Mapping[str, Any] = {}
    criteria: Sequence["Criterion"] = ()
