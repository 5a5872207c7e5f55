"""Every decoder that is fuzzed, by name."""

from tests.fuzzing.device_decoders import DEVICE_DECODERS
from tests.fuzzing.file_decoders import FILE_DECODERS
from tests.fuzzing.message_decoders import MESSAGE_DECODERS

DECODERS = {each.name: each for each in (*MESSAGE_DECODERS, *DEVICE_DECODERS, *FILE_DECODERS)}
