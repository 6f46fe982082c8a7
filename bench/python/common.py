"""What the workers in Python share: the protocol of bench/bench.h, and adding up bytes."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor

THREADS = 2


def serve(name, work, times, run, measure=None):
    """Answer the driver. `measure` returns a time in nanoseconds instead of being timed."""
    print("name", name)
    print("work", work)
    print("ready", flush=True)
    for line in sys.stdin:
        assert line == "run\n"
        run()
        begin, cpu = time.perf_counter_ns(), time.process_time_ns()
        if measure is not None:
            print(sum(measure() for _ in range(times)) / times, flush=True)
            continue
        for _ in range(times):
            run()
        took, cpu = time.perf_counter_ns() - begin, time.process_time_ns() - cpu
        print(took / times, cpu / times, flush=True)


def _add_up(add, values):
    """Add up all bytes of many arrays on two threads, as words of eight bytes."""
    with ThreadPoolExecutor(THREADS) as pool:
        return sum(pool.map(add, values)) % 2**64


def sum_arrays(arrays):
    """Return what every byte of these numpy arrays adds up to."""
    total = _add_up(lambda array: int(array.reshape(-1).view("<u8").sum()), list(arrays))
    return f"sum {total:016x}"


def sum_tensors(tensors):
    """Return what every byte of these torch tensors adds up to."""
    import torch

    torch.set_num_threads(1)  # in each of the two threads
    total = _add_up(lambda tensor: int(tensor.reshape(-1).view(torch.int64).sum()), list(tensors))
    return f"sum {total % 2**64:016x}"
