"""How the C library keeps freed memory. Called before torch is imported."""

import ctypes
import sys

# From glibc's malloc.h.
M_ARENA_MAX = -8


def share_one_arena() -> bool:
    """Let all threads take memory from one arena; False where the C library is not glibc.

    Requests are served by whichever thread is free. With an arena each, every one of them keeps the largest
    step that it ever computed, and the process grows to several times what a step needs. Only one computation
    runs at a time, so sharing costs nothing.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        return ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1) == 1
    except AttributeError:
        return False
