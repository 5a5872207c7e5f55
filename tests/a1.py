"""The robot of most tests."""

from robots.robot import load_robot

A1 = load_robot("a1")
