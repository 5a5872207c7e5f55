"""`saltus report`: one self-contained HTML page about a recorded run or a sweep."""
