"""worker.py TIMES FILE: safetensors.torch.load_file, and every byte added up on two threads (bench/bench.h)."""

import importlib.metadata
import sys

import common
from safetensors.torch import load_file


def load_once(path):
    return common.sum_tensors(load_file(path).values())


times, path = int(sys.argv[1]), sys.argv[2]
common.serve("safetensors.torch " + importlib.metadata.version("safetensors"), load_once(path),
             times, lambda: load_once(path))
