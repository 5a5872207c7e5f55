"""`saltus doctor`: whether this machine is fit to run Saltus."""
