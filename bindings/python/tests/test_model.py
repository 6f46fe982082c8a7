"""Models: opening, the mapping, the config, metadata, findings, pickling, errors."""

import os
import pickle
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import safetensors_bytes

import weighbridge as wb


def test_opens_paths_descriptors_and_memory(floats):
    expected = list(range(24))
    for source in (floats, str(floats)):
        with wb.open(source) as model:
            assert model.format == "safetensors" and model.path == str(floats)
            assert memoryview(model["a"]).tolist() == [expected[i : i + 6] for i in range(0, 24, 6)]
    with floats.open("rb") as file, wb.open(file.fileno()) as model:
        assert model.path is None and model["a"].numpy().sum() == sum(expected)
    for memory in (floats.read_bytes(), bytearray(floats.read_bytes())):
        model = wb.open(memory)
        array = model["a"].numpy()
        model.close()
        del model, memory  # the array keeps the memory
        assert array.sum() == sum(expected)


def test_takes_bytes_as_memory_not_as_a_path(floats):
    with pytest.raises(wb.errors.FormatError):
        wb.open(os.fsencode(floats))


@pytest.mark.parametrize("access", ["map", "read", "snapshot"])
def test_access_modes_give_the_same_values(floats, access):
    with wb.open(floats, access=access) as model:
        assert model["a"].numpy()[3, 5] == 23
        assert bytes(model["a"].raw()) == struct.pack("<24f", *range(24))


def test_is_a_mapping(models):
    model = wb.open(models / "qwen3-bf16")
    names = list(model)
    assert len(names) == len(model) == 35 and names == list(model.keys())
    assert names[0] == "model.embed_tokens.weight" and names[0] in model
    assert "token_embedding.weight" in model  # the canonical name
    assert model["token_embedding.weight"].name == names[0]
    assert "no" not in model and 7 not in model
    assert model.get("no") is None
    with pytest.raises(KeyError, match="no"):
        model["no"]
    assert [name for name, tensor in model.items()] == names
    assert [tensor.name for tensor in model.values()] == names
    with pytest.raises(TypeError):
        wb.Model()


def test_iterates_over_canonical_names(models):
    with wb.open(models / "qwen3-bf16", names="canonical") as model:
        names = list(model)
        assert len(names) == len(model)
        assert "layers.0.attention.q.weight" in names and "token_embedding.weight" in names
        assert all(model[name].canonical_name == name for name in names)


def test_experts_have_one_canonical_name(models):
    native = wb.open(models / "qwen3_moe-nvfp4")
    canonical = wb.open(models / "qwen3_moe-nvfp4", names="canonical")
    assert len(set(canonical)) == len(list(canonical)) == len(canonical) <= len(native)


def test_names_of_files_may_have_any_bytes(tmp_path):
    names = ["", "ä", "a\0b", "\u2028", "x" * 5000]
    path = tmp_path / "odd.safetensors"
    path.write_bytes(safetensors_bytes({name: ("U8", (1,), b"\1") for name in names}))
    model = wb.open(path)
    assert list(model) == names
    assert all(model[name].name == name for name in names)


def test_strings_of_gguf_may_have_any_bytes(tmp_path):
    header = b"GGUF" + struct.pack("<IQQ", 3, 0, 1)
    header += struct.pack("<Q", 3) + b"key" + struct.pack("<IQ", 8, 4) + b"\xfe1\x002"
    path = tmp_path / "odd.gguf"
    path.write_bytes(header)
    assert wb.open(path).metadata["key"] == "\udcfe1\x002"


def test_config_is_the_same_in_each_format(models):
    config = wb.open(models / "qwen3-bf16").config
    assert (config.architecture, config.dim, config.n_layers) == ("qwen3", 128, 3)
    assert config.norm_eps == 1e-06 and config.tie_embeddings is True
    assert config.origins["dim"] is wb.Origin.FILE and config.sliding_window is None
    assert config.others == {}


def test_metadata_is_a_mapping(models):
    metadata = wb.open(models / "qwen3-bf16").metadata
    assert metadata["format"] == "mlx" and metadata["qwen3.block_count"] == 3
    assert metadata["rope_theta"] == 1000000 and metadata["attention_bias"] is False
    assert metadata["architectures"] == ["Qwen3ForCausalLM"]
    assert set(metadata) == set(metadata.keys()) and len(metadata) == len(list(metadata))
    assert "no" not in metadata
    with pytest.raises(KeyError):
        metadata["no"]
    entry = metadata.entry("architectures")
    assert (entry.type, entry.element, entry.count, entry.file) == ("array", "string", 1, None)


def test_findings(make):
    path = make({"a": ("F32", (1,), struct.pack("<f", 1))}, {"x": "y"})
    assert wb.open(path).findings == []
    assert wb.open(path).findings.ok


def test_pickles_by_path(models):
    model = wb.open(models / "qwen3-bf16", names="canonical", access="read")
    again = pickle.loads(pickle.dumps(model))
    assert again is not model and list(again) == list(model) and again.path == model.path
    with pytest.raises(TypeError, match="opened from a path"):
        pickle.dumps(wb.open(Path(models / "qwen3-bf16" / "model.safetensors").read_bytes()))


def test_closing_twice_and_asking_afterwards(floats):
    model = wb.open(floats)
    tensor = model["a"]
    assert not model.closed
    model.close()
    model.close()
    assert model.closed and repr(model) == "<Model, closed>" and "closed" in repr(tensor)
    questions = [
        lambda: model.format, lambda: model.files, lambda: model.config, lambda: list(model),
        lambda: len(model), lambda: "a" in model, lambda: model["a"], lambda: model.findings,
        lambda: list(model.metadata), lambda: model.metadata["x"], lambda: tensor.shape,
        lambda: tensor.name, lambda: tensor.numpy(), lambda: tensor[0], lambda: tensor.encoding,
        lambda: tensor.parts, lambda: memoryview(tensor), lambda: tensor.__dlpack__(),
        lambda: tensor.decode(), lambda: tensor.raw(), lambda: model.check(),
    ]
    for question in questions:
        with pytest.raises(wb.errors.ClosedError, match="the model is closed"):
            question()


def test_errors_say_what_where_and_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        wb.open(tmp_path / "missing")
    assert isinstance(missing.value, wb.Error)
    assert missing.value.filename == str(tmp_path / "missing") and missing.value.errno == 2
    path = tmp_path / "bad.safetensors"
    path.write_bytes(b"\x10" + bytes(7) + b"[" * 100)
    with pytest.raises(ValueError) as bad:
        wb.open(path)
    error = bad.value
    assert isinstance(error, wb.Error) and error.file == str(path)
    assert error.code and error.advice and error.message in str(error) and error.file in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.code == error.code


def test_every_bad_file_is_an_error_or_opens(data):
    verdicts = {"error": 0, "opened": 0}
    for path in sorted((data / "bad").glob("*/*")):
        if path.suffix == ".tsv" or path.is_dir():
            continue
        try:
            with wb.open(path) as model:
                list(model), model.config, list(model.metadata.items()), model.findings
                for tensor in model.values():
                    try:
                        tensor[..., :1]
                    except (wb.Error, ValueError, IndexError):
                        pass
            verdicts["opened"] += 1
        except wb.Error as error:
            assert error.code and error.message
            verdicts["error"] += 1
    assert verdicts["error"] > 100 and verdicts["opened"] > 20


def test_limits_and_options(floats):
    with pytest.raises(wb.errors.LimitError):
        wb.open(floats, limits={"safetensors_header": 8})
    with pytest.raises(ValueError, match="no limit has the name"):
        wb.open(floats, limits={"none": 8})
    with pytest.raises(TypeError):
        wb.open(floats, limits=[1])
    with pytest.raises(ValueError):
        wb.open(floats, access="write")
    with pytest.raises(TypeError):
        wb.open(3.5)


def test_a_changed_file_is_noticed(floats):
    model = wb.open(floats, access="read")
    model.check()
    floats.write_bytes(floats.read_bytes()[:-4])
    with pytest.raises(wb.errors.ChangedError):
        model.check()
    with pytest.raises(wb.errors.InputOutputError):
        model["a"].numpy()


def test_import_is_light():
    code = "import sys, weighbridge; print([m for m in ('numpy', 'typing', 'dataclasses', 'torch') " \
           "if m in sys.modules])"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert output.stdout.strip() == "[]"


def test_reads_family_tables(data, tmp_path):
    """Tables of families are files or texts, come before the built-in ones, and stay with the model."""
    folder = tmp_path / "model"
    shutil.copytree(data / "models" / "qwen3-bf16", folder)
    config = folder / "config.json"
    config.chmod(0o644)
    config.write_text(config.read_text().replace('"qwen3"', '"mymodel"'))
    text = b"family mymodel : qwen3\ntype mymodel\ngguf mine\n"
    text += b"tensor L.my_norm | L.self_attn.q_norm | B.my_norm\n"
    table = tmp_path / "my.family"
    table.write_bytes(text)
    name = "layers.0.my_norm.weight"
    assert name not in wb.open(folder, names="canonical")
    for families in ([table], [str(table)], [text], (text, b"family other : llama\n")):
        model = wb.open(folder, names="canonical", families=families)
        assert name in model and model.config.architecture == "mine"
        again = pickle.loads(pickle.dumps(model))
        assert again.config.architecture == "mine"
    assert wb.open(folder, families=[]).config.architecture == "mymodel"
    codes = [f.code for f in wb.verify(folder)]
    assert "architecture-unknown" in codes
    assert "architecture-unknown" not in [f.code for f in wb.verify(folder, families=[table])]
    with pytest.raises(wb.errors.FormatError, match="line 2, statement 'type'"):
        wb.open(folder, families=[b"family x\ntype 1\n"])
    with pytest.raises(wb.errors.MissingFileError):
        wb.open(folder, families=[tmp_path / "none.family"])
    for wrong in (text, str(table), 3, [3], [None]):
        with pytest.raises(TypeError):
            wb.open(folder, families=wrong)
