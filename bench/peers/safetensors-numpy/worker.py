"""worker.py [OPERATION] TIMES FILE: a worker of the benchmarks, as bench/bench.h has them.

sum     (the default) safetensors.numpy.load_file, and every byte of every tensor added up in words of eight
load    the same on two threads
open    safe_open and keys()
import  imports FILE, a module, in a new interpreter, after numpy
"""

import importlib.metadata
import os
import subprocess
import sys

import common
import ml_dtypes  # which makes numpy know bfloat16
import numpy
from safetensors import safe_open
from safetensors.numpy import load_file


def sum_once(path):
    total = 0
    for tensor in load_file(path).values():
        total += int(tensor.reshape(-1).view("<u8").sum())
    return f"{os.path.getsize(path)} bytes, sum {total % 2**64:016x}"


def load_once(path):
    return common.sum_arrays(load_file(path).values())


def open_once(path):
    with safe_open(path, "np") as file:
        return f"{len(file.keys())} tensors"


def import_once(module):
    code = f"import time, numpy; a = time.perf_counter_ns(); import {module}; " \
           "print(time.perf_counter_ns() - a)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return int(told.stdout)


OPERATIONS = {"sum": sum_once, "load": load_once, "open": open_once}


def main():
    operation = sys.argv[1] if len(sys.argv) == 4 else "sum"
    times, path = int(sys.argv[-2]), sys.argv[-1]
    name = "safetensors.numpy " + importlib.metadata.version("safetensors")
    if operation == "import":
        common.serve(name, "an import", times, lambda: None, lambda: import_once(path))
    else:
        work = OPERATIONS[operation]
        common.serve(name, work(path), times, lambda: work(path))


main()
