"""`saltus report`: one self-contained HTML page about a sweep."""
