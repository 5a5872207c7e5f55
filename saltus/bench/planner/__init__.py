"""One HiLQR iteration beside one of Crocoddyl's FDDP."""
