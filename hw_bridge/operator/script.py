"""A run without a hand on the keys: stand up, run. Its end is the bridge's, as with keys."""

from hw_bridge.states import Request, RequestWithCause, RobotState

_NEXT = {RobotState.OFF: Request.STAND_UP, RobotState.READY: Request.RUN}


class OperatorScript:
    """Asks for each step once, when the robot is ready for it."""

    def __init__(self) -> None:
        """Nothing has been asked."""
        self._asked: set[Request] = set()

    def poll(self, state: RobotState) -> list[RequestWithCause]:
        """Return the next step if the robot, in `state`, is ready for it."""
        request = _NEXT.get(state)
        if request is None or request in self._asked:
            return []
        self._asked.add(request)
        return [(request, "")]
