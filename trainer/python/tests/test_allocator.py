"""One arena for all threads."""

import subprocess
import sys

import pytest

# Twenty threads, one after the other, each allocate and free 64 MiB in blocks that malloc keeps.
PROGRAM = """
import ctypes, sys, threading
from grpo_worker.allocator import share_one_arena
if sys.argv[1] == "one":
    assert share_one_arena()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
gate = threading.Barrier(20)
turn = threading.Lock()
def work():
    gate.wait()  # all threads are alive, so each has its own arena unless told otherwise
    with turn:
        blocks = [libc.malloc(1 << 16) for _ in range(1024)]
        for block in blocks:
            libc.memset(block, 1, 1 << 16)
        for block in blocks[:-1]:
            libc.free(block)
    gate.wait()
threads = [threading.Thread(target=work) for _ in range(20)]
for thread in threads: thread.start()
for thread in threads: thread.join()
import resource
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def peak_kib(mode: str) -> int:
    result = subprocess.run([sys.executable, "-c", PROGRAM, mode], capture_output=True, text=True, check=True)
    return int(result.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="arenas are glibc's")
def test_threads_reuse_what_others_freed() -> None:
    assert peak_kib("one") < 0.7 * peak_kib("many")
