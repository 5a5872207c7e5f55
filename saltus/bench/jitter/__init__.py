"""Wake-ups and ticks of the tracker beside those of a loop in C."""
