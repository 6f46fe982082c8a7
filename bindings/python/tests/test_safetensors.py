"""weighbridge.safetensors against the package safetensors, with numpy. Torch: torch.sh."""

import itertools
import random

import ml_dtypes
import numpy as np
import pytest
from conftest import safetensors_bytes

import weighbridge as wb
import weighbridge.safetensors as drop_in
import weighbridge.safetensors.numpy as ours

# The package safetensors has no binary for free-threaded versions of Python.
safetensors = pytest.importorskip("safetensors", exc_type=ImportError)
theirs = pytest.importorskip("safetensors.numpy", exc_type=ImportError)

ARRAYS = {
    "b": np.arange(6, dtype="f4").reshape(2, 3), "a": np.arange(3, dtype="i8"),
    "c": np.array(True), "empty": np.zeros((0, 2), "f2"), "d": np.arange(4, dtype="u2"),
    "z64": np.array([1 + 2j], "c8"), "u64": np.arange(2, dtype="u8"), "i8": np.arange(3, dtype="i1"),
    "bf": np.arange(3).astype(ml_dtypes.bfloat16), "f8": np.arange(3).astype(ml_dtypes.float8_e5m2),
    "ä": np.array(3.0), "u8": np.arange(5, dtype="u1"),
}


@pytest.mark.parametrize("metadata", [None, {"format": "np"}])
def test_writes_the_same_bytes(tmp_path, metadata):
    expected = theirs.save(ARRAYS, metadata)
    assert ours.save(ARRAYS, metadata) == expected
    ours.save_file(ARRAYS, tmp_path / "x.safetensors", metadata)
    assert (tmp_path / "x.safetensors").read_bytes() == expected
    for count in range(len(ARRAYS)):
        some = dict(list(ARRAYS.items())[:count])
        assert ours.save(some, metadata) == theirs.save(some, metadata)


def test_every_dtype_in_every_order():
    names = [name for name in ARRAYS if name not in ("ä", "bf", "f8")]
    for one, two in itertools.permutations(names, 2):
        pair = {"x": ARRAYS[one], "y": ARRAYS[two]}
        assert ours.save(pair) == theirs.save(pair), (one, two)


def test_arrays_with_any_strides_are_saved_right(tmp_path):
    base = np.arange(60, dtype="i4").reshape(3, 4, 5)
    given = {"transposed": base.T, "reversed": base[::-1], "strided": base[:, ::2, 1:4],
             "broadcast": np.broadcast_to(np.int32(7), (3, 2)), "swapped": base.astype(">i4").T}
    ours.save_file(given, tmp_path / "x.safetensors")
    for loaded in (ours.load_file(tmp_path / "x.safetensors"), ours.load(ours.save(given)),
                   theirs.load_file(tmp_path / "x.safetensors")):
        for name, value in given.items():
            assert np.array_equal(loaded[name], value), name
    wrong = theirs.load(theirs.save({"x": base.T}))["x"]
    assert not np.array_equal(wrong, base.T), "safetensors saves these right now: say so in docs"


def test_reads_every_file_as_the_original_does(data):
    for path in sorted(data.glob("models/*/*.safetensors")):
        for backend in ("mmap", "pread"):
            with drop_in.safe_open(path, "np", backend=backend) as mine, \
                    safetensors.safe_open(path, "np", backend=backend) as original:
                assert mine.keys() == original.keys()
                assert mine.offset_keys() == original.offset_keys()
                assert mine.metadata() == original.metadata()
                for name in original.keys():
                    a, b = mine.get_tensor(name), original.get_tensor(name)
                    assert a.dtype == b.dtype and a.shape == b.shape
                    assert a.tobytes() == b.tobytes() and a.flags.writeable == b.flags.writeable
                    a, b = mine.get_slice(name), original.get_slice(name)
                    assert a.get_shape() == b.get_shape() and a.get_dtype() == b.get_dtype()


def test_loaded_arrays_may_be_changed(tmp_path):
    path = tmp_path / "x.safetensors"
    ours.save_file(ARRAYS, path)
    before = path.read_bytes()
    for backend in ("mmap", "pread"):
        loaded = ours.load_file(path, backend=backend)
        loaded["b"] += 1
        assert np.array_equal(loaded["b"], ARRAYS["b"] + 1) and path.read_bytes() == before
    loaded = ours.load_file(path)
    ours.save_file(loaded, path)  # to the file whose bytes the arrays show
    assert path.read_bytes() == before and np.array_equal(loaded["b"], ARRAYS["b"])


def outcome(function):
    """Return the result of a call, or the type and text of its exception."""
    try:
        result = function()
    except Exception as error:
        return type(error).__name__, str(error)
    return result.shape, result.tobytes()


def random_index(rng):
    def item():
        kind = rng.randrange(6)
        if kind == 0:
            return rng.randrange(-7, 7)
        if kind == 1:
            return ...
        bounds = [rng.choice([None, 0, 1, 2, 3, 4, 5, 7]) for _ in range(2)]
        if None not in bounds:
            bounds.sort()  # safetensors 0.8.0 computes a negative length if start > stop
        return slice(*bounds, rng.choice([None, None, 1, 2, 3, 0, -1]))

    return item() if rng.randrange(3) == 0 else tuple(item() for _ in range(rng.randrange(4)))


def test_slices_and_their_errors_are_the_same(tmp_path):
    path = tmp_path / "x.safetensors"
    theirs.save_file({"x": np.arange(30, dtype="i2").reshape(5, 6), "s": np.array(1.0),
                      "e": np.zeros((2, 0), "f4")}, path)
    rng = random.Random(1)
    same = 0
    with drop_in.safe_open(path, "np") as mine, safetensors.safe_open(path, "np") as original:
        for name in ("x", "s", "e"):
            for _ in range(1500):
                index = random_index(rng)
                expected = outcome(lambda: original.get_slice(name)[index])
                assert outcome(lambda: mine.get_slice(name)[index]) == expected, index
                same += 1
        for index in ([], [0], "a", 1.5, (1, [2])):
            assert outcome(lambda: mine.get_slice("x")[index])[0] == \
                outcome(lambda: original.get_slice("x")[index])[0]
        assert mine.get_slice("x")[4:1].shape == (0, 6)
    assert same > 2000


def test_errors(tmp_path):
    missing = tmp_path / "missing"
    path = tmp_path / "x.safetensors"
    ours.save_file(ARRAYS, path)
    calls = [
        lambda module: module.safe_open(missing, "np"),
        lambda module: module.safe_open(path, "no"),
        lambda module: module.safe_open(path, "np", device="cuda:0"),
        lambda module: module.safe_open(path, "np", device="tpu"),
        lambda module: module.safe_open(path, "np", device="mps:1"),
        lambda module: module.safe_open(path, "np", backend="no"),
        lambda module: module.safe_open(path, "np").get_tensor("no"),
        lambda module: module.safe_open(path, "np").get_slice("no"),
        lambda module: module.TensorSpec(dtype="no", shape=[1], data_ptr=0, data_len=0),
        lambda module: closed(module, path).keys(),
        lambda module: closed(module, path).get_tensor("a"),
    ]
    for call in calls:
        expected = outcome(lambda: call(safetensors))
        assert outcome(lambda: call(drop_in)) == expected
    with pytest.raises(TypeError):
        drop_in.serialize({"x": {"dtype": "float32"}})


def closed(module, path):
    with module.safe_open(path, "np") as file:
        pass
    return file


def test_refuses_what_the_original_refuses(data, tmp_path):
    """Every malformed file: nothing is accepted that the original refuses."""
    accepted = refused = 0
    for path in sorted((data / "bad" / "safetensors").iterdir()):
        if path.suffix != ".safetensors":
            continue
        verdict = outcome(lambda: all_of(safetensors, path))
        mine = outcome(lambda: all_of(drop_in, path))
        if verdict[0] in ("SafetensorError", "FileNotFoundError"):
            assert mine[0] in ("SafetensorError", "FileNotFoundError"), path.name
            refused += 1
        elif isinstance(verdict[0], tuple):
            assert mine == verdict, path.name
            accepted += 1
    assert refused > 20 and accepted > 5


def all_of(module, path):
    """Return the bytes of all tensors as one array."""
    with module.safe_open(path, "np") as file:
        parts = [file.get_tensor(name).tobytes() for name in file.keys()]
    return np.frombuffer(b"".join(parts), np.uint8)


def test_specs_and_serialize(tmp_path):
    array = np.arange(6, dtype="f4").reshape(2, 3)
    made = []
    for module in (safetensors, drop_in):
        spec = module.TensorSpec(dtype="float32", shape=array.shape, data_ptr=array.ctypes.data,
                                 data_len=array.nbytes)
        assert spec.dtype == "F32" and spec.shape == [2, 3] and "F32" in repr(spec)
        made.append((module.serialize({"x": spec}, {"k": "v"}), repr(spec)))
        module.serialize_file({"x": spec}, tmp_path / "x")
        made[-1] += ((tmp_path / "x").read_bytes(),)
    assert made[0] == made[1]
    packed = drop_in.TensorSpec(dtype="float4_e2m1fn_x2", shape=[2], data_ptr=0, data_len=0)
    assert packed.shape == [4] and packed.dtype == "F4"
    flat = {name: (value["shape"], value["dtype"], bytes(value["data"]))
            for name, value in drop_in.deserialize(made[0][0])}
    assert flat == {name: (value["shape"], value["dtype"], bytes(value["data"]))
                    for name, value in safetensors.deserialize(made[0][0])}


def test_a_shard_is_opened_alone_and_parts_by_themselves(models):
    folder = models / "qwen3-4bit-3shards"
    path = folder / "model-00001-of-00003.safetensors"
    with drop_in.safe_open(path, "np") as file, wb.open(path) as whole:
        assert len(file.keys()) < len(whole) + 40
        assert any(name.endswith(".scales") for name in file.keys())


def test_patch_replaces_and_restores(tmp_path):
    import types

    program = types.ModuleType("a_program")
    program.safe_open, program.load_file = safetensors.safe_open, theirs.load_file
    program.other = len
    import sys

    sys.modules["a_program"] = program
    before = safetensors.safe_open, theirs.load_file, theirs.save_file
    try:
        restore = wb.patch()
        assert safetensors.safe_open is drop_in.safe_open is program.safe_open
        assert theirs.load_file is program.load_file is ours.load_file and program.other is len
        wb.patch()  # twice is no harm
        theirs.save_file(ARRAYS, tmp_path / "x")
        assert np.array_equal(program.load_file(tmp_path / "x")["b"], ARRAYS["b"])
        restore()
        assert (safetensors.safe_open, theirs.load_file, theirs.save_file) == before
        assert (program.safe_open, program.load_file) == before[:2]
    finally:
        wb.unpatch()
        del sys.modules["a_program"]


def test_file_objects(tmp_path):
    (tmp_path / "x").write_bytes(safetensors_bytes({"a": ("U8", (3,), b"abc")}))
    with open(tmp_path / "x", "rb") as file:
        with drop_in._safe_open_handle(file, framework="np") as handle:
            assert handle.get_tensor("a").tobytes() == b"abc"
