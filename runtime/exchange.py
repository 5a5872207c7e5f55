"""Questions and answers between two processes: one asks, one answers, frames of bytes each way.

The bus carries what is new to all subscribers; here one peer waits for the other's answer, and
must find out when there will be none. Nothing here blocks for longer than it was told to.
"""

from runtime.requester import Requester
from runtime.responder import Responder

__all__ = ["Requester", "Responder"]
