"""Mutants: small mistakes that cosmic-ray makes in our code, sampled by a fixed seed."""

import random
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tests.mutation.parts import PARTS, ROOT, files_of

SEED = 25
# Mutants of these run nowhere (bits of floats), or change nothing that a test could see.
IGNORED = ("BitAnd", "BitOr", "BitXor", "Shift", "Invert", "RemoveDecorator", "Variable",
           "ExceptionReplacer")  # fmt: skip


class Mutant(NamedTuple):
    """One mistake in one file; `occurrence` counts the operator's places in it."""

    part: str
    file: str
    line: int
    operator: str
    occurrence: int

    @property
    def name(self) -> str:
        """Such as ``controller/tracker.py:51 NumberReplacer 3``."""
        return f"{self.file}:{self.line} {self.operator.partition('/')[2]} {self.occurrence}"

    def code(self) -> str:
        """The file's text with the mistake in it."""
        text = (ROOT / self.file).read_text()
        mutated = mutate_code(text, get_operator(self.operator)(), self.occurrence)
        assert mutated is not None and mutated != text
        return mutated


def sample(count: int) -> list[Mutant]:
    """As many of each part, in turn; a smaller sample is the beginning of a larger one."""
    shuffled = {part: _shuffled(part) for part in PARTS}
    return [
        mutants[number] for number in range(-(-count // len(PARTS)))
        for mutants in shuffled.values() if number < len(mutants)
    ][:count]  # fmt: skip


def _shuffled(part: str) -> list[Mutant]:
    """One mutant of each place of a part, in random order."""
    draw, places = random.Random(f"{SEED} {part}"), defaultdict[tuple, list[Mutant]](list)
    for file in files_of(PARTS[part]):
        for place, mutant in _mutants_of(part, file):
            places[(str(file), *place)].append(mutant)
    chosen = [draw.choice(places[place]) for place in sorted(places)]
    draw.shuffle(chosen)
    return chosen


def _mutants_of(part: str, file: Path) -> list[tuple[tuple, Mutant]]:
    """All mutants of a file with their places, but those in decorators and type annotations."""
    text = (ROOT / file).read_text()
    tree, lines, mutants = get_ast(text), text.splitlines(), []
    for name in operator_names():
        if any(word in name for word in IGNORED):
            continue
        operator = get_operator(name)()
        places = (place for node in ast_nodes(tree) for place in operator.mutation_positions(node))
        for occurrence, (start, end) in enumerate(places):
            if not lines[start[0] - 1].lstrip().startswith("@"):
                mutants.append(((start, end), Mutant(part, str(file), start[0], name, occurrence)))
    return mutants
