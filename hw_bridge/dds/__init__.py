"""DDS to a Go2 and back, by Cyclone DDS; needs the extra ``saltus[go2]``."""
