"""worker.py TIMES FILE: a worker of the benchmarks, as bench/bench.h has them.

safetensors.numpy.load_file, and every byte of every tensor added up in words of eight.
"""

import importlib.metadata
import os
import sys
import time

import ml_dtypes  # which makes numpy know bfloat16
import numpy
from safetensors.numpy import load_file


def load(path):
    total = 0
    for tensor in load_file(path).values():
        total += int(tensor.reshape(-1).view("<u8").sum())
    return total % 2**64


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: safetensors-numpy TIMES FILE")
    times, path = int(sys.argv[1]), sys.argv[2]
    print("name safetensors.numpy", importlib.metadata.version("safetensors"))
    print(f"work {os.path.getsize(path)} bytes, sum {load(path):016x}")
    print("ready", flush=True)
    for line in sys.stdin:
        assert line == "run\n"
        load(path)
        begin, cpu = time.perf_counter_ns(), time.process_time_ns()
        for _ in range(times):
            load(path)
        took, cpu = time.perf_counter_ns() - begin, time.process_time_ns() - cpu
        print(took / times, cpu / times, flush=True)


main()
