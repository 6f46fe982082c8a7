"""worker.py open TIMES FILE | convert TIMES QUANT FOLDER: a worker of the benchmarks, as bench/bench.h
describes them. Converting quantizes the tensors of a folder in BF16 one by one, with numpy, to what
FOLDER.QUANT.plan says, and writes them.

worker.py make FILE writes the file that the cases open, see vocab.py.
"""

import importlib.metadata
import sys
import time
import zlib


def open_once(path):
    from gguf import GGUFReader

    begin = time.perf_counter_ns()
    reader = GGUFReader(path)
    return time.perf_counter_ns() - begin, f"{len(reader.tensors)} tensors"


def convert_once(quant, folder, told=[]):
    import gguf
    import numpy

    begin = time.perf_counter_ns()
    count = checksum = 0
    with open(f"{folder}/model.safetensors", "rb") as source, open(f"{folder}.{quant}.py", "wb") as result:
        for line in open(f"{folder}.{quant}.plan"):
            offset, rows, columns = map(int, line.split()[:3])
            kind = gguf.GGMLQuantizationType[line.split()[3]]
            source.seek(offset)
            raw = numpy.fromfile(source, numpy.uint16, rows * columns).reshape(rows, columns)
            values = (raw.astype(numpy.uint32) << 16).view(numpy.float32)
            data = gguf.quantize(values, kind).tobytes()
            result.write(data)
            count += values.size
            checksum = checksum if told else zlib.crc32(data, checksum)
    took = time.perf_counter_ns() - begin
    if not told:
        told.append(f"{count} values, checksum {checksum:08x}")
    return took, told[0]


def serve(times, work):
    print("name gguf-py", importlib.metadata.version("gguf"))
    print("work", work()[1])
    print("ready", flush=True)
    for line in sys.stdin:
        assert line == "run\n"
        work()
        print(sum(work()[0] for _ in range(times)) / times, flush=True)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "make":
        import vocab

        vocab.write(sys.argv[2])
    elif len(sys.argv) == 4 and sys.argv[1] == "open":
        serve(int(sys.argv[2]), lambda: open_once(sys.argv[3]))
    elif len(sys.argv) == 5 and sys.argv[1] == "convert":
        serve(int(sys.argv[2]), lambda: convert_once(sys.argv[3], sys.argv[4]))
    else:
        sys.exit("usage: gguf-py open TIMES FILE | convert TIMES QUANT FOLDER | make FILE")


main()
