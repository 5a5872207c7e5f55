"""The client of a physics server: a greeting, and an answer to each question or none."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from runtime.exchange import Requester
from runtime.key_files import read_public
from runtime.physics_messages import (
    PROTOCOL,
    Hello,
    Refusal,
    Reply,
    Request,
    ServerInfo,
    decode_reply,
)
from runtime.server_address import is_local
from runtime.wire import DecodeError, encode
from sim_bridge.options import ServerOptions
from sim_bridge.physics_service import NOBODY
from sim_bridge.rollouts.unavailable import Unavailable

LOCAL_PATIENCE_S = 2.0  # with a server of this machine, until it answers a greeting [s]
MOST_FRAMES = 100  # looked at in a row for the one that is waited for


class Silence(NamedTuple):
    """There is no answer, and why, in a few words."""

    why: str


class PhysicsClient:
    """One connection to a physics server; one question at a time.

    Attributes:
        info: what the server said of itself when it was last greeted.
    """

    def __init__(
        self, server: ServerOptions, backend: str = "remote", patience_s: float | None = None
    ) -> None:
        """Connect and greet.

        Args:
            server: where it is.
            backend: whose server it is, "isaacgym" or "remote".
            patience_s: how long to wait for it [s]; when None, 2 s within this machine and the
                options' patience beyond it.

        Raises:
            Unavailable: no server answers that speaks our protocol.
        """
        self.options, self._isaac_gym = server, backend == "isaacgym"
        try:
            key = read_public(Path(server.key_file)) if server.key_file else ""
            self._requester = Requester(server.address, key)
        except ValueError as error:
            raise Unavailable(str(error)) from None
        self._id = 0
        if patience_s is None:
            patience_s = LOCAL_PATIENCE_S if is_local(server.address) else server.patience
        try:
            self.info = self._introduce(patience_s)
        except Unavailable:
            self.close()
            raise

    def next_id(self) -> int:
        """The id of the next question; no other of this connection has it."""
        self._id += 1
        return self._id

    def ask(self, question: Request, timeout_s: float) -> Reply | Silence:
        """The answer to `question`, whose id is of `next_id`; never raises.

        Answers to earlier questions, which came too late, are dropped. It is silence when none
        has come within `timeout_s` [s], the connection breaks, or what comes is no message of ours.
        """
        deadline = time.monotonic() + timeout_s
        self._requester.drop_unread()
        if not self._requester.send(encode(question)):
            return Silence("nobody is connected")
        for _ in range(MOST_FRAMES):
            frame = self._requester.receive(deadline - time.monotonic())
            if frame is None:
                break
            reply = _decoded(frame)
            if isinstance(reply, Silence) or reply.id == question.id or _of_nobody(reply):
                return reply
        if self._requester.connected:
            return Silence(f"no answer in {1e3 * timeout_s:.3g} ms")
        return Silence("the connection broke")

    def tell(self, message: Request) -> None:
        """Send what is needed for the next question; its answer is not waited for."""
        self._requester.send(encode(message))

    def greet(self) -> bool:
        """Send a greeting, for `greeted`; False where no server is connected."""
        return self._requester.send(encode(Hello(id=self.next_id(), protocol=PROTOCOL)))

    def greeted(self) -> bool:
        """Whether a server that speaks our protocol has answered a greeting; does not wait."""
        for _ in range(MOST_FRAMES):
            frame = self._requester.receive(0.0)
            if frame is None:
                return False
            reply = _decoded(frame)
            if isinstance(reply, ServerInfo) and reply.protocol == PROTOCOL:
                self.info = reply
                return True
        return False

    def close(self) -> None:
        """End the connection."""
        self._requester.close()

    def _introduce(self, patience_s: float) -> ServerInfo:
        """Greet until a server answers."""
        deadline = time.monotonic() + patience_s
        while self._requester.wait_connected(deadline - time.monotonic()):
            hello = Hello(id=self.next_id(), protocol=PROTOCOL)
            reply = self.ask(hello, deadline - time.monotonic())
            if isinstance(reply, ServerInfo) and reply.protocol == PROTOCOL:
                return reply
            if not isinstance(reply, Silence):
                raise Unavailable(
                    f"the server at {self.options.address} speaks another protocol than ours "
                    f"({PROTOCOL}): bring both machines to the same version of saltus"
                )
            if time.monotonic() >= deadline:
                break
        raise Unavailable(self._nobody())

    def _nobody(self) -> str:
        """The reason why no server answers, and the remedy."""
        address, key_file = self.options.address, self.options.key_file
        if self._requester.connected:
            return f"the server at {address} is busy or is no physics server: it does not answer"
        if not self._requester.turned_away:
            which = "saltus serve isaacgym" if self._isaac_gym else "saltus serve"
            return f"no physics server answers at {address}: start one with `{which}`"
        if key_file:
            return f"the server at {address} does not have the key of {key_file}"
        return f"the server at {address} wants a key, or is no physics server: give key_file"


def _of_nobody(reply: Reply) -> bool:
    """Whether a server could not read what it was asked."""
    return isinstance(reply, Refusal) and reply.id == NOBODY


def _decoded(frame: bytes) -> Reply | Silence:
    try:
        return decode_reply(frame)
    except DecodeError:
        return Silence("the answer is no message of ours")
