"""Systems of single studies, with their closed forms; those of general use are in ``saltation``."""
