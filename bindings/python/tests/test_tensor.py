"""Tensors: descriptions, values, slices, numpy, the buffer protocol and DLPack."""

import struct

import ml_dtypes
import numpy as np
import pytest

import weighbridge as wb

#: dtype of the file -> dtype of numpy
PLAIN = {
    "F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1",
    "U64": "u8", "U32": "u4", "U16": "u2", "U8": "u1", "BOOL": "?", "C64": "c8",
    "BF16": ml_dtypes.bfloat16, "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2, "F8_E8M0": ml_dtypes.float8_e8m0fnu,
}


def values_of(dtype, shape=(3, 4)):
    """Return values with varied bytes; bytes of a bool are 0 or 1."""
    raw = np.random.default_rng(5).integers(0, 2 if dtype == "BOOL" else 256,
                                            12 * np.dtype(PLAIN[dtype]).itemsize, np.uint8)
    return raw.view(PLAIN[dtype]).reshape(shape)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("access", ["map", "read"])
@pytest.mark.parametrize("dtype", PLAIN)
def test_plain_dtypes(make, dtype, access):
    values = values_of(dtype)
    with wb.open(make({"t": (dtype, (3, 4), values.tobytes())}), access=access) as model:
        tensor = model["t"]
        assert (tensor.dtype, tensor.shape, tensor.ndim) == (dtype, (3, 4), 2)
        assert (tensor.size, tensor.nbytes, len(tensor)) == (12, values.nbytes, 3)
        assert tensor.encoding.is_plain and tensor.canonical_name is None
        assert same(tensor.numpy(), values) and same(np.asarray(tensor), values)
        assert bytes(tensor.raw()) == values.tobytes()
        assert tensor.numpy().flags.owndata is False
        assert tensor.numpy().flags.writeable == (access == "read")
        assert same(tensor.numpy(copy=True), values) and tensor.numpy(copy=True).flags.writeable
        assert same(tensor[1:, ::2], values[1:, ::2])
        if dtype not in ("C64", "F8_E8M0"):
            with np.errstate(all="ignore"):
                expected = values.astype(np.float32)
            assert np.array_equal(tensor.decode(), expected, equal_nan=True)


def test_numpy_without_a_copy(floats):
    with wb.open(floats) as model:
        view = model["a"].numpy(copy=False)
        assert view.__array_interface__["data"][0] == model["a"].map(False).pointer
        with pytest.raises(ValueError):
            view[0] = 1
        with pytest.raises(ValueError):
            model["a"].numpy("float16", copy=False)
    with wb.open(floats, access="read") as model, pytest.raises(ValueError):
        model["a"].numpy(copy=False)


def test_writable_views_do_not_change_the_file(floats):
    before = floats.read_bytes()
    with wb.open(floats, writable=True) as model:
        array = model["a"].numpy()
        array[:] = 7
        assert model["a"].numpy().max() == model["a"].numpy().min() == 7
    assert floats.read_bytes() == before
    assert wb.open(floats)["a"].numpy()[0, 1] == 1


SLICES = [
    (), ..., 0, -1, slice(None), slice(1, 3), slice(None, None, -1), slice(3, 0, -2), slice(9, 9),
    (0, 1), (1, slice(None)), (slice(None), 2), (slice(0, 2), slice(None, None, 2)), (..., 0),
    (0, ...), (slice(-3, None), slice(-2, None)), (None, 0), (slice(None), None, 1), (..., None),
    (None, ..., None), np.int64(2), (slice(1, 1), 0),
]


@pytest.mark.parametrize("access", ["map", "read"])
@pytest.mark.parametrize("key", SLICES, ids=repr)
def test_slices_follow_numpy(floats, key, access):
    expected = np.arange(24, dtype="f4").reshape(4, 6)[key]
    with wb.open(floats, access=access) as model:
        got = model["a"][key]
        assert type(got) is type(expected)
        assert got.shape == expected.shape and np.array_equal(got, expected)


@pytest.mark.parametrize("key", [4, -5, (0, 6), (0, 0, 0), (..., ...), (0, ..., 0, 0)])
def test_slices_out_of_range(floats, key):
    with pytest.raises(IndexError):
        np.arange(24).reshape(4, 6)[key]
    with wb.open(floats) as model, pytest.raises(IndexError):
        model["a"][key]


@pytest.mark.parametrize("key", ["a", 1.5, True, [0, 1], np.array([0, 1])])
def test_slices_of_other_kinds(floats, key):
    with wb.open(floats) as model, pytest.raises(TypeError):
        model["a"][key]


def test_values_into_memory_of_the_caller(floats):
    with wb.open(floats) as model:
        out = np.zeros((4, 6), "f2")
        assert model["a"].decode("F16", out=out) is out and out[3, 5] == 23
        small = np.zeros(3, "f4")
        assert model["a"].select((0, slice(3)), out=small) is small
        assert small.tolist() == [0, 1, 2]
        with pytest.raises(ValueError, match="out has 12 bytes"):
            model["a"].decode(out=small)
        with pytest.raises((BufferError, TypeError)):
            model["a"].decode(out=bytes(96))


@pytest.mark.parametrize("dtype", ["F16", "float16", np.float16, np.dtype("f2"), "torch.float16"])
def test_dtypes_have_many_names(floats, dtype):
    with wb.open(floats) as model:
        assert model["a"].decode(dtype).dtype == np.float16
        with pytest.raises(ValueError, match="not an element type"):
            model["a"].decode("float17")


def test_scalars_and_empty_tensors(make):
    path = make({"s": ("F32", (), struct.pack("<f", 3)), "e": ("F32", (0, 3), b"")})
    with wb.open(path) as model:
        assert model["s"].numpy().shape == () and model["s"][()] == 3 and model["s"][...] == 3
        assert model["e"].numpy().shape == (0, 3) and model["e"][:, 1].shape == (0,)
        assert memoryview(model["e"]).shape == (0, 3) and bytes(model["e"].raw()) == b""
        assert np.from_dlpack(model["e"]).shape == (0, 3)
        with pytest.raises(TypeError):
            len(model["s"])


def test_unaligned_tensors_are_copied(make):
    values = np.arange(5, dtype="f8")
    path = make({"odd": ("U8", (3,), b"abc"), "t": ("F64", (5,), values.tobytes())})
    with wb.open(path) as model:
        assert model["t"].map(False) is None and model["t"].array().pointer % 8 == 0
        assert same(model["t"].numpy(), values)
        assert model["odd"].map(False) is not None


def test_sub_byte_types(make):
    path = make({"t": ("F4", (2, 4), bytes([0x21, 0x43, 0x65, 0x87]))})
    with wb.open(path) as model:
        assert model["t"].numpy().tolist() == [[0.5, 1, 1.5, 2], [3, 4, 6, -0.0]]
        assert bytes(model["t"].raw()) == bytes([0x21, 0x43, 0x65, 0x87])
        assert model["t"][1, 2:].tolist() == [6, -0.0]


# ---- quantized tensors ----


def test_quantized_tensors_decode(models):
    with wb.open(models / "qwen3-4bit-3shards") as model:
        tensor = model["model.layers.0.mlp.down_proj.weight"]
        assert tensor.dtype == "U32" and str(tensor.encoding) == "affine4:64"
        assert [role for role, _ in tensor.parts] == ["values", "scales", "biases"]
        packed, scales, biases = (part.numpy() for _, part in tensor.parts)
        codes = (packed[..., None] >> np.arange(0, 32, 4, dtype="u4")) & 15
        codes = codes.reshape(tensor.shape).astype("f4")
        expected = codes * scales.astype("f4").repeat(64, 1) + biases.astype("f4").repeat(64, 1)
        assert np.array_equal(tensor.numpy(), expected)
        assert np.array_equal(tensor[3, 5:9], expected[3, 5:9])
        assert tensor.decode("BF16").dtype == ml_dtypes.bfloat16
        with pytest.raises(BufferError, match="quantized"):
            memoryview(tensor)
        with pytest.raises(BufferError, match="quantized"):
            np.from_dlpack(tensor)
        with pytest.raises(wb.errors.UnsupportedError):
            tensor.raw()


# ---- the buffer protocol ----


def test_buffers(floats):
    with wb.open(floats) as model:
        view = memoryview(model["a"])
        assert (view.format, view.shape, view.strides) == ("f", (4, 6), (24, 4))
        assert view.readonly and view.c_contiguous and view[1, 2] == 8
    assert view[3, 5] == 23  # after the model is closed


def test_types_without_a_format_give_bytes_only(make):
    with wb.open(make({"t": ("BF16", (2,), b"\0\x3f\x80\x3f")})) as model:
        with pytest.raises(BufferError, match="no format"):
            memoryview(model["t"])
        assert bytes(memoryview(model["t"].raw())) == b"\0\x3f\x80\x3f"
        assert np.asarray(model["t"]).tolist() == [0.5, 1.0]


def test_arrays_refuse_writers(floats):
    with wb.open(floats) as model, pytest.raises((BufferError, TypeError)):
        struct.pack_into("<f", model["a"].array(), 0, 1.0)
    with wb.open(floats, access="read") as model:
        array = model["a"].array()
        struct.pack_into("<f", array.raw(), 0, 99.0)
        assert array.numpy()[0, 0] == 99 and not array.readonly


# ---- DLPack ----


def test_dlpack_to_numpy(make):
    for dtype in ("F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL",
                  "C64"):
        values = values_of(dtype)
        with wb.open(make({"t": (dtype, (3, 4), values.tobytes())})) as model:
            got = np.from_dlpack(model["t"])
            assert same(got, values) and not got.flags.writeable
            assert got.__array_interface__["data"][0] == model["t"].array().pointer
            assert model["t"].__dlpack_device__() == (1, 0)
        assert same(got, values)


def capsule_name(capsule):
    return repr(capsule).split('"')[1]


def test_dlpack_versions_and_copies(floats):
    with wb.open(floats) as model:
        tensor = model["a"]
        assert capsule_name(tensor.__dlpack__()) == "dltensor"
        assert capsule_name(tensor.__dlpack__(max_version=(0, 8))) == "dltensor"
        assert capsule_name(tensor.__dlpack__(max_version=(1, 1))) == "dltensor_versioned"
        with pytest.raises(BufferError):
            tensor.__dlpack__(copy=False)  # the old version cannot say that it is read-only
        assert capsule_name(tensor.__dlpack__(max_version=(1, 0), copy=False))
        with pytest.raises(BufferError, match="another device"):
            tensor.__dlpack__(dl_device=(2, 0))
        copy = np.from_dlpack(tensor, copy=True)
        assert copy.flags.writeable and copy[3, 5] == 23
    with wb.open(floats, writable=True) as model:
        assert capsule_name(model["a"].__dlpack__(copy=False)) == "dltensor"


def test_dlpack_of_types_that_numpy_lacks(make):
    for dtype, bits in (("BF16", 16), ("F8_E4M3", 8), ("F8_E5M2", 8), ("F8_E8M0", 8), ("F4", 4)):
        path = make({"t": (dtype, (2, 8), bytes(16 * bits // 8))})
        with wb.open(path) as model:
            array = model["t"].read(None, -1, None)
            assert array.dtype == dtype and array.__dlpack__(max_version=(1, 1))
