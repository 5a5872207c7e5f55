"""Messages, topics, bus, clocks, real-time set-up and recording; no robot, no mathematics."""
