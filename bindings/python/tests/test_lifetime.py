"""Lifetimes: garbage collection, threads, fork, subinterpreters and leaks."""

import gc
import os
import subprocess
import sys
import sysconfig
import threading
import weakref

import numpy as np
import pytest

import weighbridge as wb


def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- views outlive the model ----


def test_views_keep_the_memory(floats):
    model = wb.open(floats)
    tensor = model["a"]
    views = {
        "numpy": tensor.numpy(), "asarray": np.asarray(tensor), "dlpack": np.from_dlpack(tensor),
        "buffer": np.asarray(memoryview(tensor)), "array": np.asarray(tensor.array()),
        "raw": np.frombuffer(tensor.raw(), "f4").reshape(4, 6),
    }
    model.close()
    del model, tensor
    gc.collect()
    expected = np.arange(24, dtype="f4").reshape(4, 6)
    for name in list(views):
        assert np.array_equal(views.pop(name), expected), name


def test_a_capsule_that_nobody_takes_is_freed(floats):
    model = wb.open(floats)
    for version in (None, (1, 1)):
        capsule = model["a"].__dlpack__(max_version=version)
        del capsule
    model.close()


def test_the_file_is_unmapped_with_the_last_view(floats):
    def mapped():
        with open("/proc/self/maps") as maps:
            return str(floats) in maps.read()

    model = wb.open(floats)
    view = model["a"].numpy()
    assert mapped()
    model.close()
    assert mapped()
    del view
    assert not mapped()


def test_objects_are_freed(floats):
    model = wb.open(floats)
    tensor = model["a"]
    iterator = iter(model)
    dead = weakref.ref(model)
    del model
    assert dead() is not None  # the tensor needs it
    del tensor
    assert dead() is None
    assert next(iterator) == "a"  # the iterator keeps what it needs


def loop(path):
    with wb.open(path) as model:
        tensor = model["a"]
        tensor.numpy(), tensor[1:, 2], tensor.decode("F16"), memoryview(tensor), list(model)
        np.from_dlpack(tensor), tensor.__dlpack__(), tensor.parts, model.files, model.config
        list(model.metadata.items()), model.findings, tensor.raw(), tensor.array().raw().numpy()
        for wrong in (lambda: tensor[9], lambda: model["no"], lambda: tensor.decode("F99"),
                      lambda: wb.open("/does/not/exist"), lambda: tensor.read((0, "x"), -1, None),
                      lambda: tensor.decode(out=bytearray(1)), lambda: model.tensor_at(99)):
            try:
                wrong()
            except Exception:
                pass
    try:
        tensor.numpy()
    except ValueError:
        pass


def test_no_leaks(floats):
    for _ in range(200):
        loop(floats)
    gc.collect()
    before, objects = rss(), len(gc.get_objects())
    references = sys.gettotalrefcount() if hasattr(sys, "gettotalrefcount") else 0
    for _ in range(2000):
        loop(floats)
    gc.collect()
    if not os.environ.get("SANITIZER_RUNTIME"):  # sanitizers keep freed memory
        assert rss() - before < 1 << 20
    assert abs(len(gc.get_objects()) - objects) < 50
    if references:
        assert abs(sys.gettotalrefcount() - references) < 200


# ---- threads ----


def run_threads(count, work):
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def test_many_threads_use_one_model(models):
    model = wb.open(models / "qwen3-4bit-3shards")
    expected = {name: tensor.numpy().sum() for name, tensor in model.items()}

    def work(number):
        for name in list(model)[number::2] * 3:
            tensor = model[name]
            assert tensor.numpy().sum() == expected[name]
            assert tensor.canonical_name and model.config.n_layers == 3
            assert model.metadata["qwen3.block_count"] == 3

    run_threads(8, work)


def test_threads_share_an_iterator(models):
    model = wb.open(models / "qwen3-bf16")
    iterator = iter(model)
    seen = []
    run_threads(4, lambda number: seen.extend(iterator))
    assert sorted(seen) == sorted(model)


def test_closing_while_threads_read(floats):
    for _ in range(50):
        model = wb.open(floats)
        barrier = threading.Barrier(5)

        def work(number):
            barrier.wait()
            try:
                for _ in range(20):
                    if number == 0:
                        model.close()
                    else:
                        assert model["a"].numpy()[3, 5] == 23
                        assert model["a"][3, 4] == 22
            except wb.errors.ClosedError:
                pass

        run_threads(5, work)


def test_reading_releases_the_gil(tmp_path):
    path = tmp_path / "large.npy"
    np.save(path, np.zeros((64, 1 << 20), "f4"))
    model = wb.open(path)
    [tensor] = model.values()
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            done.wait(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    out = np.empty(tensor.shape, "f2")
    before = counted
    tensor.decode("F16", out=out)
    during = counted - before
    done.set()
    thread.join()
    assert during > 2


# ---- fork ----


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
                    reason="the locks of the interpreter's own objects do not survive a fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
@pytest.mark.parametrize("access", ["map", "read"])
def test_a_child_reads_after_fork(floats, access):
    """Other threads read all the time, so that a lock would be held in some of the children."""
    model = wb.open(floats, access=access)
    stop = threading.Event()

    def read():
        while not stop.is_set():
            model["a"].numpy(), model["a"][1:2], wb.open(floats, access=access)["a"].numpy()

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(60):
            child = os.fork()
            if child == 0:
                good = model["a"][3, 5] == 23 and wb.open(floats, access=access)["a"][0, 1] == 1
                os._exit(0 if good else 1)
            waiter = threading.Timer(20, os.kill, (child, 9))
            waiter.start()
            _, status = os.waitpid(child, 0)
            waiter.cancel()
            assert status == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


# ---- subinterpreters ----

SUBINTERPRETERS = """
import sys, threading
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
CODE = '''
import sys
sys.path[:0] = {paths!r}
import weighbridge as wb
for _ in range(30):
    with wb.open({path!r}) as model:
        assert list(model) == ["a"]
        view = memoryview(model["a"])
    assert view[3, 5] == 23
    try:
        model["a"]
    except wb.errors.ClosedError:
        pass
'''

def run():
    interpreter = interpreters.create()
    failed = interpreters.run_string(interpreter, CODE.format(paths=sys.path, path=sys.argv[1]))
    interpreters.destroy(interpreter)
    if failed is not None:
        print(failed)
        failures.append(failed)

failures = []
import weighbridge
threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
model = weighbridge.open(sys.argv[1])
assert memoryview(model["a"])[3, 5] == 23
sys.exit(bool(failures))
"""


def test_subinterpreters(floats):
    result = subprocess.run([sys.executable, "-c", SUBINTERPRETERS, str(floats)],
                            capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stdout + result.stderr


def test_use_at_the_end_of_the_interpreter(floats):
    """Views are released after the modules are cleared."""
    code = "import weighbridge as wb, numpy, sys\n" \
           "model = wb.open(sys.argv[1]); a = model['a'].numpy(); b = numpy.from_dlpack(model['a'])\n" \
           "c = memoryview(model['a']); d = iter(model); sys.keep = (a, b, c, d)\n"
    subprocess.run([sys.executable, "-c", code, str(floats)], check=True, timeout=60)
