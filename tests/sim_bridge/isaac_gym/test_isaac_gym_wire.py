"""One protocol, and what is no request is refused; the stand-in and the fuzzer do the rest."""

import numpy as np
import pytest

from runtime import physics_messages as messages
from sim_bridge.isaac_gym import server


def test_they_speak_one_protocol():
    assert server.PROTOCOL == messages.PROTOCOL
    tags = {kind.__struct_config__.tag for kind in messages.Request.__args__}
    assert set(server._REQUESTS) == tags


@pytest.mark.parametrize(
    "changes",
    [{"q": np.zeros(18)}, {"more": 1}, {"id": "1"}, {"kind": ["place"]},
     {"q": ["<f4", [19], bytes(76)]}, {"q": ["<f8", [19], bytes(80)]},
     {"q": ["<f8", [-1], bytes(152)]}, {"q": [1.0] * 19}],
    ids=str,
)  # fmt: skip
def test_what_is_no_request_is_refused(changes):
    good = {"kind": "place", "id": 1, "q": np.zeros(19), "v": np.zeros(18)}
    server.decode(server.encode(good))
    with pytest.raises(ValueError):
        server.decode(server.encode({**good, **changes}))
