"""Do tests notice mistakes? ``python -m tests.mutants --count 10``, or ``make mutants``.

One small mistake at a time is made in a copy of the index, where the nearest tests that import the
file run until one fails. One that passes without the mistake has noticed it.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter

from tests.check import ROOT, choose, find_distances, find_importers, is_test, python_files

PARTS = ("controller", "hw_bridge", "estimator", "saltation")
SEED = 25
LIMIT_S = 120  # of one mistake: its file may have to be compiled
NEAREST = 10  # files of tests, by the fewest imports
TREE = ROOT / ".mutants"
PYTEST = ("-m", "pytest", "-q", "-x", "-m", "not slow and not quiet")
SWAPS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
         ast.GtE: ast.Gt}  # fmt: skip


def main():
    """Make the mistakes, and print what the tests noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="mistakes in all parts together")
    count = parser.parse_args().count
    shutil.rmtree(TREE, ignore_errors=True)
    subprocess.run(["git", "checkout-index", "-a", f"--prefix={TREE}/"], cwd=ROOT, check=True)
    answers = Counter[tuple[str, str]]()
    for part in PARTS:
        for file, number in sample(part, -(-count // len(PARTS))):
            start = time.monotonic()
            answer, mistake = attempt(file, number)
            answers[part, answer] += 1
            print(f"{answer:10} {time.monotonic() - start:4.0f} s  {mistake}", flush=True)
    kinds = ("noticed", "missed", "unfinished")
    print("", f"{'':12}" + "".join(f"{kind:>12}" for kind in kinds), sep="\n")
    for part in PARTS:
        print(f"{part:12}" + "".join(f"{answers[part, kind]:12}" for kind in kinds))


def sample(part, count):
    """Files with numbers of edits; a smaller sample begins a larger one."""
    files = sorted(file for file in python_files() if file.parts[0] == part)
    found = [(file, number) for file in files for number in range(len(list(edits(parse(file)))))]
    random.Random(SEED).shuffle(found)
    return found[:count]


def parse(file):
    """The syntax tree of a file of the copy."""
    return ast.parse((TREE / file).read_text())


def edits(tree):
    """Each small mistake in functions: a sign, a term left out, a bound, a value."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in dict.fromkeys(node for each in functions for node in ast.walk(each)):
        match node:
            case ast.BinOp(op=ast.Add() | ast.Sub()):
                yield node, "op", SWAPS[type(node.op)]()
                yield node, "right", ast.BinOp(node.right, ast.Mult(), ast.Constant(0))
            case ast.Compare(ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
                yield node, "ops", [SWAPS[type(node.ops[0])]()]
            case ast.Constant(value=float(value)) if value:
                yield node, "value", 1.1 * value


def attempt(file, number):
    """Whether tests notice a mistake, and the mistake."""
    distances = find_distances([file], find_importers(python_files(), [file]))
    tests = choose({each: n for each, n in distances.items() if is_test(each)}, {}, 1)[0][:NEAREST]
    # Compiled code of mistakes must not push out that of the code as it is.
    shutil.rmtree(TREE / ".kernels", ignore_errors=True)
    shutil.copytree(ROOT / ".kernels", TREE / ".kernels", copy_function=os.link)
    tree, text = parse(file), (TREE / file).read_text()
    node, field, value = list(edits(tree))[number]
    before = ast.unparse(node)
    setattr(node, field, value)
    mistake = f"{file}:{node.lineno}  {before}  ->  {ast.unparse(node)}"
    (TREE / file).write_text(ast.unparse(tree))
    status = run(*map(str, tests))
    (TREE / file).write_text(text)
    if status in (0, 5):  # all pass, or there are none
        return "missed", mistake
    return ("noticed" if status == 1 and run("--lf") == 0 else "unfinished"), mistake


def run(*arguments):
    """The status of tests in the copy."""
    command = ["timeout", str(LIMIT_S), sys.executable, *PYTEST, *arguments]
    environment = os.environ | {"PYTHONPATH": str(TREE)}
    return subprocess.run(command, cwd=TREE, env=environment, capture_output=True).returncode


if __name__ == "__main__":
    main()
