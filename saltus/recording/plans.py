"""Plans as they are recorded: knots and gains of a few of them, the rest of all."""

from typing import Literal

import msgspec
import numpy as np

from runtime.messages import Plan
from saltus.configuration.recording import RecordingOptions

KNOTS_EVERY_NS = 50_000_000
GAINS_EVERY_NS = 500_000_000
Share = Literal["head", "knots", "gains"]  # of a plan that is kept; each holds those before


class Sampling:
    """Says which messages of a stream are taken: the first one in each period of time."""

    def __init__(self, period_ns: int) -> None:
        """Take one message in `period_ns` [ns]."""
        self._period_ns, self._due_ns = period_ns, -1

    def take(self, time_ns: int) -> bool:
        """Whether the message of `time_ns` [ns] is taken."""
        if time_ns < self._due_ns:
            return False
        self._due_ns = (time_ns // self._period_ns + 1) * self._period_ns
        return True


class PlanThinner:
    """Leaves out what a recording does not keep of plans.

    A plan that keeps its first state alone has no knots (N = 0), and says how long it took, what it
    cost and how it ended. Gains that are left out are NaN: nobody takes them for gains.
    """

    def __init__(self, options: RecordingOptions) -> None:
        """With the options of a launch file."""
        self._options = options
        self._knots, self._gains = Sampling(KNOTS_EVERY_NS), Sampling(GAINS_EVERY_NS)

    @property
    def keeps_all(self) -> bool:
        """Whether plans are recorded as they are."""
        return self._options == RecordingOptions(plans="all", gains="float64")

    def thin(self, plan: Plan, time_ns: int) -> Plan:
        """The plan that arrived at `time_ns` [ns], as it is recorded."""
        return self.keep(plan, self.share(time_ns))

    def share(self, time_ns: int) -> Share:
        """How much is kept of the plan that arrived at `time_ns` [ns], the next one in order."""
        sampled = self._options.plans == "sampled"
        if sampled and not self._knots.take(time_ns):
            return "head"
        return "knots" if sampled and not self._gains.take(time_ns) else "gains"

    def keep(self, plan: Plan, share: Share) -> Plan:
        """A plan of which `share` is kept."""
        if share == "head":
            return msgspec.structs.replace(
                plan, states_q=plan.states_q[:1], states_v=plan.states_v[:1],
                inputs=plan.inputs[:0], gains=plan.gains[:0], contacts=plan.contacts[:0],
            )  # fmt: skip
        if share == "knots" or self._options.gains == "none":
            return msgspec.structs.replace(plan, gains=np.full_like(plan.gains, np.nan))
        if self._options.gains == "float32":
            # Still float64 on the wire: the zeros that end each number compress away.
            rounded = plan.gains.astype(np.float32).astype(np.float64)
            return msgspec.structs.replace(plan, gains=rounded)
        return plan
