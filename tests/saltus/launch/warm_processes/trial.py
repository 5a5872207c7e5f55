"""What a trial of a warm process tells the test that started it."""

import json

from runtime.wire import decode, encode
from saltus.common.compiled_code import compiled_since, signature_counts


def on_wire(message):
    """The message as another process gets it."""
    return decode(type(message), encode(message))


def tell(before, seen):
    """Print what was compiled since `before`, what the process lived through, and `cold`.

    `cold`: whether it found less than all in the compiler's cache.
    """
    cold = any(function.stats.cache_misses for function in signature_counts())
    print(json.dumps({"late": compiled_since(before), "seen": sorted(seen), "cold": cold}))
