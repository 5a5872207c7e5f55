"""What both ends of an exchange have in common: limits, and signs of life."""

import zmq

from runtime.server_address import is_local

MOST_BYTES = 256 * 2**20  # of a frame; a peer that sends a larger one is disconnected
LOCAL_BUFFER = 2**20  # bytes, which hold most frames whole; between machines it grows by itself
QUEUE = 16  # frames kept for a peer that does not take them; more are dropped
HEARTBEAT_MS, SILENCE_MS = 500, 2000  # between signs of life; without one, the network is cut


def open_socket(
    context: "zmq.Context[zmq.Socket[bytes]]", kind: int, address: str
) -> "zmq.Socket[bytes]":
    """A socket with the limits of this module."""
    socket = context.socket(kind)
    socket.linger = 0
    socket.ipv6 = "[" in address
    socket.maxmsgsize = MOST_BYTES
    socket.sndhwm = socket.rcvhwm = QUEUE
    if is_local(address):
        socket.sndbuf = socket.rcvbuf = LOCAL_BUFFER
    socket.heartbeat_ivl, socket.heartbeat_timeout = HEARTBEAT_MS, SILENCE_MS
    return socket


def milliseconds(seconds: float) -> int:
    """Poll in whole milliseconds, never a negative number, which would be for ever."""
    return max(0, int(1e3 * seconds + 0.999))


def reason(error: Exception) -> str:
    """Why a socket could not be connected or bound, in a few words."""
    if isinstance(error, zmq.ZMQError) and error.errno is not None:
        return "no such key or address" if error.errno == zmq.EINVAL else zmq.strerror(error.errno)
    return str(error)
