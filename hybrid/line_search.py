"""The line searches of HiLQR, by name: see `hybrid.hilqr.options.HilqrOptions`.

Beside the package, for who only checks a name: the package loads the compiler.
"""

from typing import Literal

LineSearch = Literal["exhaustive", "two_stage", "backtracking"]
