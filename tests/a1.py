"""The robot of most tests, and its wire."""

from hw_bridge.wire.layout import wire_of
from robots.robot import load_robot

A1 = load_robot("a1")
WIRE = wire_of(A1)
