"""References that are made on line, from a command: base path, strides, footholds, joints."""
