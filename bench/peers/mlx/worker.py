"""worker.py decode|encode TIMES MODE FILE: a worker of the benchmarks, as bench/bench.h has them.

Floats from and to floats in rows of 4096, on the processor; affine in groups of 64. The work is told
with a checksum of the result.
"""

import importlib.metadata
import os
import sys
import time
import zlib

import mlx.core as mx
import numpy

COLUMNS = 4096


def arguments_of(mode):
    if mode.startswith("affine"):
        return {"group_size": 64, "bits": int(mode[len("affine"):]), "mode": "affine"}
    return {"mode": mode}


def time_of(work, times):
    """In nanoseconds, for all of them: nothing is kept from one time to the next."""
    begin = time.perf_counter_ns()
    for _ in range(times):
        mx.eval(work())
    return time.perf_counter_ns() - begin


def as_list(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def main():
    if len(sys.argv) != 5 or sys.argv[1] not in ("decode", "encode"):
        sys.exit("usage: mlx decode|encode TIMES MODE FILE")
    # One processor, as for the other peers; waiting threads cost nothing.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    mx.set_default_device(mx.cpu)
    times, options = int(sys.argv[2]), arguments_of(sys.argv[3])
    values = mx.array(numpy.fromfile(sys.argv[4], "<f4").reshape(-1, COLUMNS))
    parts = as_list(mx.quantize(values, **options))
    mx.eval(values, parts)

    def encode():
        return as_list(mx.quantize(values, **options))

    def decode():
        return [mx.dequantize(*parts, **options, dtype=mx.float32)]

    work = encode if sys.argv[1] == "encode" else decode
    checksum = 0
    for array in work():
        checksum = zlib.crc32(numpy.array(array).tobytes(), checksum)
    print("name mlx", importlib.metadata.version("mlx"))
    print(f"work {values.size} values, checksum {checksum:08x}")
    print("ready", flush=True)
    for line in sys.stdin:
        assert line == "run\n"
        time_of(work, 1)
        print(time_of(work, times) / times, flush=True)


main()
