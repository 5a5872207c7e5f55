"""Figure 6.1: the candidates of one line search in a backflip that is pushed."""
