"""Memory that was freed, and the system does not have back yet."""

import ctypes


def give_back() -> None:
    """Has the C library return what it keeps for later; one without that keeps it."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
