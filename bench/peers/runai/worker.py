"""worker.py warm|cold|placed TIMES FILE: a worker of the benchmarks, as bench/bench.h has them.

Run:ai's model streamer, that is its library in C++ through its own binding, with its default settings: a
range for each tensor, into memory that is touched already and used again (which favours it: its upper half,
which hands over tensors of PyTorch, takes new memory). Every byte is added up in words of eight, a range as
soon as it is there, while others are read. With `cold` the file is taken out of the page cache before; with `placed` too, and nothing is added up.
"""

import ctypes
import importlib.metadata
import importlib.util
import json
import mmap
import os
import sys
import time
import types

import numpy

NAME = "runai_model_streamer"

# The package imports PyTorch; the binding that it uses does not.
package = types.ModuleType(NAME)
package.__path__ = importlib.util.find_spec(NAME).submodule_search_locations
sys.modules[NAME] = package
from runai_model_streamer.libstreamer import libstreamer  # noqa: E402


def ranges_of(path):
    with open(path, "rb") as file:
        n = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(n))
    places = sorted(t["data_offsets"] for name, t in header.items() if name != "__metadata__")
    return [8 + n + begin for begin, _ in places], [end - begin for begin, end in places]


def drop(path):
    """Out of the page cache, and looks whether it is."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    size = os.fstat(fd).st_size
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    at = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    pages = ctypes.create_string_buffer(-(-size // mmap.PAGESIZE))
    assert libc.mincore(at, size, pages) == 0
    libc.munmap(at, size)
    os.close(fd)
    assert pages.raw.count(b"\1") < len(pages) / 16, "the file does not leave the page cache"


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("warm", "cold", "placed"):
        sys.exit("usage: runai warm|cold|placed TIMES FILE")
    cold, adds_up, times, path = sys.argv[1] != "warm", sys.argv[1] != "placed", int(sys.argv[2]), sys.argv[3]
    offsets, sizes = ranges_of(path)
    streamer = libstreamer.runai_start()
    # As the package does: data at a multiple of the block in the file is at a multiple of the block in memory.
    block = libstreamer.runai_probe_direct_block_size(streamer, [path])
    room = numpy.ones(os.path.getsize(path) + 2 * block, dtype=numpy.uint8)
    base = room.ctypes.data
    shift = -base % block
    places = [base + shift + offset for offset in offsets]
    views = [room[shift + offset : shift + offset + size].view("<u8") for offset, size in zip(offsets, sizes)]

    def load(adds_up):
        total = 0
        libstreamer.runai_request(streamer, [path], [len(sizes)], offsets, sizes, places)
        for _ in sizes:
            code, _, _, index, _ = libstreamer.runai_response(streamer)
            assert code == 0, libstreamer.runai_response_str(code)
            if adds_up:
                total += int(views[index].sum())
        return total % 2**64

    print("name Run:ai model streamer", importlib.metadata.version("runai-model-streamer"))
    print(f"work {os.path.getsize(path)} bytes, sum {load(True):016x}")
    print("ready", flush=True)
    for line in sys.stdin:
        assert line == "run\n"
        load(adds_up)
        took = cpu = 0
        for _ in range(times):
            if cold:
                drop(path)
            begin, busy = time.perf_counter_ns(), time.process_time_ns()
            load(adds_up)
            took += time.perf_counter_ns() - begin
            cpu += time.process_time_ns() - busy
        print(took / times, cpu / times, flush=True)


main()
