"""Decoders of what comes over ZeroMQ: topics, physics requests and replies, and the exchange."""

import socket
from contextlib import suppress
from typing import get_args

import msgspec
import numpy as np

from controller.driving.commands import CommandIntake
from controller.options import DriveOptions
from controller.planner_options import HilqrSection
from controller.tuning import tuned
from robots.terrain import Box, Grid, make_ground
from runtime.checked import layout
from runtime.exchange import Requester, Responder
from runtime.messages import Command, DecodeError, decode, encode
from runtime.physics_messages import PROTOCOL, Hello, Reply, decode_reply, decode_request
from runtime.topics import COMMAND, TOPICS
from sim_bridge.ground_exchange import to_request
from sim_bridge.isaac_gym import server as isaac_gym
from sim_bridge.physics_service import PhysicsService
from tests.fuzzing.decoder import Decoder, plain
from tests.fuzzing.mutation import JSON, MESSAGE_PACK
from tests.sim_bridge.physics.requests import (
    StillRollout,
    StillWorld,
    place_request,
    rollout_request,
    tick_request,
    world_request,
)
from tests.sim_bridge.rollouts.motions import policies

MOST_CANDIDATES = 16
PATIENCE_S, ASK_EVERY = 4.0, 50


def example(kind, size=2):
    """A good message of a kind; `size` stands for every letter of its shapes."""
    random = np.random.default_rng(size)
    fixed, varying, words = layout(kind)
    letters = dict.fromkeys("NICMBRSP", size)
    fields = {name: random.normal(size=shape) for name, shape in fixed}
    fields |= {name: random.normal(size=shape.at(letters)) for name, shape in varying}
    fields |= {name: accepted[0] for name, accepted in words}
    others = {int: 3, float: 0.25, bool: True, str: "a name", list[bool]: [True] * size}
    for field in msgspec.structs.fields(kind):
        if field.name not in fields and field.required:
            fields[field.name] = others[field.type]
    return kind(**fields)


def examples(*kinds):
    """Frames of two sizes of each kind."""
    return [encode(example(kind, size)) for kind in kinds for size in (1, 2)]


def _topic(topic):
    def decode_and_encode(data):
        return encode(decode(topic.message, data))

    return Decoder(
        f"topic {topic.name}", plain(decode_and_encode), lambda: examples(topic.message),
        (DecodeError,), MESSAGE_PACK,
    )  # fmt: skip


# Of a client by ZMTP 3.1 (rfc.zeromq.org/spec/37).
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01NULL" + bytes(48)
READY = b"\x04\x29\x05READY\x0bSocket-Type\0\0\0\x06DEALER\x08Identity\0\0\0\0"


def _conversations():
    """What a client sends to a server: greeting, handshake and a question."""
    question = encode(Hello(id=1, protocol=PROTOCOL))
    return [GREETING + READY + bytes((0, len(question))) + question, GREETING + READY, GREETING]


def _make_exchange(folder):
    """A server whose socket gets the bytes; now and then another client asks, and is answered."""
    file, count = folder / "x", 0
    server = Responder(f"ipc://{file}")
    client = Requester(server.address)
    assert client.wait_connected(PATIENCE_S)

    def take(data):
        nonlocal count
        with socket.socket(socket.AF_UNIX) as stranger, suppress(ConnectionError):
            stranger.connect(str(file))
            stranger.sendall(data)
        count += 1
        if count % ASK_EVERY == 0:
            client.drop_unread()
            assert client.send(b"?")  # a client has lost its server
            while (received := server.receive(PATIENCE_S)) and received[1] != b"?":
                pass
            assert received is not None  # the server no longer hears
            server.send(received[0], b"!")
            assert client.receive(PATIENCE_S) == b"!"
        return server.receive(0.0)

    return take


def _make_service(_):
    """A physics service: it refuses in an answer, and never raises."""
    service = PhysicsService("none", "none", MOST_CANDIDATES, lambda *_: StillRollout(), StillWorld)

    def answer(data):
        request = decode_request(data)
        reply = service.answer(request, b"client")
        return decode_reply(encode(reply))

    return answer


def _make_command_intake(_):
    intake = CommandIntake(DriveOptions())
    number = iter(range(2**62))

    def offer(data):
        intake.offer(decode(Command, data), 0.01 * next(number))
        return intake.goal()

    return offer


def _tunings():
    changes = [
        {"damping": 0.1, "tolerance": 1e-3},
        {"cost": {"base_position": [1.0, 2.0, 3.0], "base_velocity": 0.5}},
        {"realtime": {"iterations": 2, "step_sizes": [1.0, 0.5]}},
    ]
    return [msgspec.json.encode(each) for each in changes]


def _tune(data):
    return tuned(HilqrSection(), data.decode("utf-8", "surrogateescape"))


def _requests():
    """One of each kind, that a server obeys."""
    boxes = (Box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), Box((1.0, 0.0, 0.0), (1.0, 1.0, 1.0), 0.2))
    ground = make_ground(boxes, Grid(np.zeros((2, 3)), (0.0, 0.0), 0.1))
    requests = (
        Hello(id=1, protocol=PROTOCOL), to_request(2, ground), rollout_request(policies(2, 2)),
        world_request(floor_slope=0.1, urdf="<robot/>"), tick_request(steps=2), place_request(),
    )  # fmt: skip
    return [encode(each) for each in requests]


MESSAGE_DECODERS = (
    *map(_topic, TOPICS),
    Decoder("physics request", _make_service, _requests, (DecodeError,), MESSAGE_PACK),
    Decoder("physics reply", plain(decode_reply), lambda: examples(*get_args(Reply)),
            (DecodeError,), MESSAGE_PACK),
    Decoder("isaac gym request", plain(isaac_gym.decode), _requests, (isaac_gym.Refused,),
            MESSAGE_PACK),
    Decoder("exchange", _make_exchange, _conversations),
    Decoder("command intake", _make_command_intake, lambda: examples(COMMAND.message),
            (DecodeError,), MESSAGE_PACK),
    Decoder("tuning options", plain(_tune), _tunings, (ValueError,), JSON),
)  # fmt: skip
assert PROTOCOL == isaac_gym.PROTOCOL
