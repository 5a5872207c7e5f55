"""Studies of Seghete and Murphey: when the outcome of simultaneous impacts is unique."""
