"""One thread for linear algebra, where every core has work of its own."""

import os

VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def use_one_thread() -> None:
    """Ask numpy and scipy for one thread, here and in processes started from here.

    Works before they are imported only. Threads would win nothing on matrices of a robot's size,
    and with a process on every core they would stand in each other's way.
    """
    for variable in VARIABLES:
        os.environ[variable] = "1"
