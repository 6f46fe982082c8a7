"""worker.py open TIMES FILE: a worker of the benchmarks, as bench/bench.h describes them.

worker.py make FILE writes the file that the case opens, see vocab.py.
"""

import importlib.metadata
import sys
import time


def open_once(path):
    from gguf import GGUFReader

    begin = time.perf_counter_ns()
    reader = GGUFReader(path)
    return time.perf_counter_ns() - begin, len(reader.tensors)


def serve(times, path):
    print("name gguf-py", importlib.metadata.version("gguf"))
    print("work", open_once(path)[1], "tensors")
    print("ready", flush=True)
    for line in sys.stdin:
        assert line == "run\n"
        open_once(path)
        print(sum(open_once(path)[0] for _ in range(times)) / times, flush=True)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        import vocab

        vocab.write(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "open":
        serve(int(sys.argv[2]), sys.argv[3])
    else:
        sys.exit("usage: gguf-py open TIMES FILE | make FILE")


main()
