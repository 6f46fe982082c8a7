"""weighbridge.gguf against the package gguf."""

import warnings

import numpy as np
import pytest

import weighbridge as wb
import weighbridge.gguf as ours

# The package gguf needs sentencepiece, which has no binary for some versions of Python.
gguf = pytest.importorskip("gguf", exc_type=ImportError)


def files(data):
    return [path for path in sorted(data.glob("**/*.gguf"))
            if "bad" not in path.parts or path.name.startswith("ok")]


def test_reader_agrees_on_every_file(data):
    count = 0
    for path in files(data):
        try:
            theirs = gguf.GGUFReader(path)
        except (ValueError, IndexError, OverflowError, KeyError):
            continue  # newer types and versions
        mine = ours.GGUFReader(path)
        check_fields(mine, theirs)
        assert mine.alignment == theirs.alignment and mine.data_offset == theirs.data_offset
        assert mine.byte_order == theirs.byte_order
        assert int(mine.endianess) == int(theirs.endianess)
        assert len(mine.tensors) == len(theirs.tensors)
        for a, b in zip(mine.tensors, theirs.tensors):
            check_tensor(a, b)
        count += 1
    assert count > 20


def check_fields(mine, theirs):
    assert list(mine.fields) == list(theirs.fields)
    for key, b in theirs.fields.items():
        a = mine.fields[key]
        assert (a.name, a.types, a.data, a.offset) == (b.name, b.types, b.data, b.offset)
        assert len(a.parts) == len(b.parts)
        assert all(np.array_equal(x, y) for x, y in zip(a.parts, b.parts))
        try:
            contents = b.contents()
        except (UnicodeDecodeError, IndexError):
            continue
        assert a.contents() == contents


def check_tensor(a, b):
    assert (a.name, a.tensor_type, a.n_elements, a.n_bytes, a.data_offset) == \
        (b.name, b.tensor_type, b.n_elements, b.n_bytes, b.data_offset)
    assert np.array_equal(a.shape, b.shape) and a.data.shape == b.data.shape
    assert a.data.tobytes() == b.data.tobytes()


def test_reader_errors(tmp_path, data):
    with pytest.raises(FileNotFoundError):
        ours.GGUFReader(tmp_path / "missing.gguf")
    with pytest.raises(ValueError):
        ours.GGUFReader(data / "models" / "qwen3-bf16" / "model.safetensors")
    with pytest.raises(ValueError, match="weighbridge.edit"):
        ours.GGUFReader(tmp_path / "x", "r+")


def fill(writer, module):
    """Use the writer as converters do."""
    value = module.GGUFValueType
    writer.add_name("näme")
    writer.add_context_length(32)
    writer.add_head_count(4)
    writer.add_head_count_kv([1, 2])
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_base_model_name(0, "base")
    writer.add_token_list(["a", "b", b"\xf0\x9f"])
    writer.add_token_scores([0.5, -1.0, 2.0])
    writer.add_token_types([1, 2, 3])
    writer.add_add_bos_token(True)
    writer.add_bool("x.bool", False)
    for bits in (8, 16, 32, 64):
        getattr(writer, f"add_uint{bits}")(f"x.u{bits}", 2**bits - 1)
        getattr(writer, f"add_int{bits}")(f"x.i{bits}", -2 ** (bits - 1))
    writer.add_float64("x.f64", 0.1)
    writer.add_string("x.empty", "")
    writer.add_array("x.none", [])
    writer.add_array("x.flags", [True, False])
    writer.add_array("x.bytes", b"\x01\x02")
    writer.add_array("x.nested", [[1, 2], [3]])
    writer.add_key_value("x.u16s", [1, 2], value.ARRAY, value.UINT16)
    writer.add_chat_template([{"name": "default", "template": "d"},
                              {"name": "tool use", "template": "t"}])
    writer.add_quantization_version(2)


TENSORS = {
    "f32": (np.arange(12, dtype="f4").reshape(3, 4), None),
    "f16": (np.arange(5, dtype="f2"), None),
    "i8": (np.arange(6, dtype="i1").reshape(1, 2, 3), None),
    "scalar": (np.arange(1, dtype="f8"), None),
    "q": (gguf.quantize(np.linspace(-1, 1, 128, dtype="f4").reshape(2, 64),
                        gguf.GGMLQuantizationType.Q8_0), gguf.GGMLQuantizationType.Q8_0),
}


@pytest.mark.parametrize("alignment", [None, 64])
@pytest.mark.parametrize("big", [False, True])
def test_writer_writes_the_same_bytes(tmp_path, big, alignment):
    written = {}
    for name, module in (("theirs", gguf), ("ours", ours)):
        path = tmp_path / f"{name}.gguf"
        order = module.GGUFEndian.BIG if big else module.GGUFEndian.LITTLE
        writer = module.GGUFWriter(path, "test", endianess=order)
        fill(writer, module)
        if alignment:
            writer.add_custom_alignment(alignment)
        for key, (tensor, kind) in TENSORS.items():
            if not (big and kind is not None):  # gguf swaps the bytes of blocks wrongly
                writer.add_tensor(key, tensor, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        written[name] = path.read_bytes()
    assert written["ours"] == written["theirs"]


def test_writer_tensor_by_tensor(tmp_path):
    path = tmp_path / "x.gguf"
    writer = ours.GGUFWriter(path, "test")
    values = np.arange(12, dtype="f4").reshape(3, 4)
    writer.add_tensor_info("a", values.shape, values.dtype, values.nbytes)
    writer.add_tensor_info("b", values.T.shape, values.dtype, values.nbytes)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.write_tensor_data(values)
    assert not path.exists()
    writer.write_tensor_data(values.T)  # not contiguous
    writer.close()
    with wb.open(path) as model:
        assert np.array_equal(model["a"].numpy(), values)
        assert np.array_equal(model["b"].numpy(), values.T)


def test_writer_refuses(tmp_path):
    writer = ours.GGUFWriter(tmp_path / "x.gguf", "test")
    writer.add_tensor("a", np.zeros(3, "f4"))
    with pytest.raises(ValueError, match="Duplicated"):
        writer.add_tensor("a", np.zeros(3, "f4"))
    with pytest.raises(ValueError, match="Only F16"):
        writer.add_tensor("c", np.zeros(3, "c8"))
    with pytest.raises(ValueError, match="same type"):
        writer.add_array("x", [1, "a"])
        writer.write_header_to_file()
    with pytest.raises(ValueError):
        writer.write_tensor_data(np.zeros(3, "f4"))


def test_every_simple_method_exists():
    theirs = {name for name in dir(gguf.GGUFWriter) if name.startswith("add_")}
    missing = theirs - set(dir(ours.GGUFWriter))
    assert missing == {"add_architecture", "add_shard_kv_data", "add_dense_features_dims"}


def test_enumerations_have_the_same_numbers():
    for name in ("GGMLQuantizationType", "GGUFValueType"):
        for member in getattr(gguf, name):
            assert getattr(ours, name)[member.name] == member
    for kind, sizes in gguf.GGML_QUANT_SIZES.items():
        if kind.name == "Q8_1":
            sizes = 32, 36  # ggml's block_q8_1 has two halves; gguf counts them as floats
        assert ours.GGML_QUANT_SIZES[ours.GGMLQuantizationType(int(kind))] == sizes


@pytest.mark.parametrize("kind", list(gguf.GGMLQuantizationType), ids=lambda kind: kind.name)
def test_codecs_agree(kind):
    values = np.random.default_rng(3).standard_normal((4, 512)).astype("f4")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            blocks = gguf.quantize(values, kind)
        except NotImplementedError:
            blocks = None
        if blocks is not None and kind.name not in ("MXFP4", "NVFP4"):
            assert np.array_equal(ours.quantize(values, ours.GGMLQuantizationType(int(kind))), blocks)
        size = ours.GGML_QUANT_SIZES[ours.GGMLQuantizationType(int(kind))]
        raw = np.random.default_rng(4).integers(0, 128, (4, 512 // size[0] * size[1]), np.uint8)
        try:
            expected = gguf.dequantize(raw, kind)
        except NotImplementedError:
            return
        got = ours.dequantize(raw, ours.GGMLQuantizationType(int(kind)))
        assert got.shape == expected.shape and np.array_equal(got, expected, equal_nan=True)
