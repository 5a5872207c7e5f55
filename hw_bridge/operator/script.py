"""A run without a hand on the keys: stand up, run, sit down."""

from hw_bridge.operator.asked import Asked
from hw_bridge.states import Request, RobotState


class Script:
    """Asks for each step once, when the robot is ready for it."""

    def __init__(self, run_s: float) -> None:
        """Run for `run_s` [s]; 0: until somebody else ends it."""
        self._run_s = run_s
        self._asked: set[Request] = set()
        self._running_since: float | None = None

    def poll(self, now: float, state: RobotState) -> list[Asked]:
        """Return the next step if it is time [s] for it."""
        if state is RobotState.OFF:
            return self._ask_once(Request.STAND_UP)
        if state is RobotState.READY:
            return self._ask_once(Request.RUN)
        if state is not RobotState.RUNNING or not self._run_s:
            return []
        self._running_since = now if self._running_since is None else self._running_since
        if now - self._running_since < self._run_s:
            return []
        return self._ask_once(Request.SIT_DOWN)

    def _ask_once(self, request: Request) -> list[Asked]:
        if request in self._asked:
            return []
        self._asked.add(request)
        return [(request, "")]
