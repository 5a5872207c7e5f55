"""`saltus doctor`: whether this machine, or a robot and its link, is fit; consent to motion."""
