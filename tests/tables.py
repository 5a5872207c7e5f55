"""Tables in text: command lines and YAML as they are typed, beside what they give."""

import yaml


def table(text):
    """Rows of a table: a line each, ` => ` between the cells."""
    return [[cell.strip() for cell in line.split(" => ")] for line in text.strip().splitlines()]


def yaml_table(text):
    """The same, whose cells are YAML."""
    return [[yaml.safe_load(cell) for cell in row] for row in table(text)]
