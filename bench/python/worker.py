"""worker.py OPERATION TIMES [FILE]: a worker of the benchmarks for the Python package (bench/bench.h).

open    opens a file and lists the names of all tensors
load    opens a file, takes every tensor as a numpy array, and adds up all bytes on two threads
torch   the same with tensors of torch
drop-in the same as load with weighbridge.safetensors.numpy.load_file
import  imports MODULE (in place of FILE) in a new interpreter, after numpy
"""

import subprocess
import sys
import time

import common

import weighbridge


def open_once(path):
    with weighbridge.open(path) as model:
        return f"{len(list(model))} tensors"


def load_once(path):
    model = weighbridge.open(path)
    return common.sum_arrays(tensor.numpy() for tensor in model.values())


def drop_in_once(path):
    from weighbridge.safetensors.numpy import load_file

    return common.sum_arrays(load_file(path).values())


def torch_once(path):
    from weighbridge.safetensors.torch import load_file

    return common.sum_tensors(load_file(path).values())


def import_once(module):
    """Return nothing; the time is that of the import statement in a new interpreter."""
    code = f"import time, numpy; a = time.perf_counter_ns(); import {module}; " \
           "print(time.perf_counter_ns() - a)"
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return int(told.stdout)


OPERATIONS = {"open": open_once, "load": load_once, "torch": torch_once, "drop-in": drop_in_once}


def main():
    operation, times, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    name = f"weighbridge.python {weighbridge.__version__}"
    if operation == "import":
        common.serve(name, "an import", times, lambda: None, lambda: import_once(path))
    else:
        work = OPERATIONS[operation]
        common.serve(name, work(path), times, lambda: work(path))


main()
