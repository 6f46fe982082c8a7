"""What notebooks show, and plots."""

from html.parser import HTMLParser

import numpy as np
import pytest
from conftest import safetensors_bytes

import weighbridge as wb


class Page(HTMLParser):
    """Checks that tags are balanced, and collects them and the text."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_a_model_is_a_folded_tree(models):
    with wb.open(models / "qwen3-4bit-3shards") as model:
        page = Page(model._repr_html_())
        assert 5 < page.tags.count("details") < 20
        assert "affine4:64" in page.text and "qwen3" in page.text
        for tensor in model.values():
            assert tensor.name.split(".")[-1] in page.text
            assert tensor.dtype in Page(tensor._repr_html_()).text
    assert "closed" in model._repr_html_() and "closed" in tensor._repr_html_()


def test_names_cannot_inject_markup(tmp_path):
    evil = "<script>alert(1)</script>.&<b>"
    path = tmp_path / "evil.safetensors"
    path.write_bytes(safetensors_bytes({evil: ("U8", (1,), b"\1")}))
    model = wb.open(path)
    for text in (model._repr_html_(), model[evil]._repr_html_()):
        assert "script" not in Page(text).tags and "<script" in Page(text).text


def test_deep_names_make_a_shallow_tree(tmp_path):
    path = tmp_path / "deep.safetensors"
    names = [".".join("a" * n) for n in range(1, 1500)]
    path.write_bytes(safetensors_bytes({name: ("U8", (0,), b"") for name in names}))
    page = Page(wb.open(path)._repr_html_())
    assert page.tags.count("details") <= 32 and names[-1][-100:] in page.text


def test_large_models_stay_small(tmp_path):
    path = tmp_path / "many.safetensors"
    path.write_bytes(safetensors_bytes(
        {f"layers.{i}.{j}.w": ("U8", (0,), b"") for i in range(500) for j in range(10)}))
    text = wb.open(path)._repr_html_()
    assert len(text) < 1 << 20 and "and 3000 more tensors" in Page(text).text


def test_findings_and_conversions_are_tables(models, make, tmp_path):
    assert "no findings" in wb.verify(models / "qwen3-bf16")._repr_html_()
    nan = make({"a<b": ("F32", (1,), np.array([np.nan], "f4").tobytes())})
    page = Page(wb.verify(nan)._repr_html_())
    assert "a<b" in page.text and "table" in page.tags
    plan = wb.plan(models / "qwen3-bf16", "gguf", quant="Q8_0")
    assert "blk.0.attn_q.weight" in Page(plan._repr_html_()).text


def test_plots(models, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    import weighbridge.plot as plot

    result = wb.convert(models / "qwen3-bf16", tmp_path / "x.gguf", "gguf", quant="Q4_K_M")
    with wb.open(models / "qwen3-4bit-3shards") as model:
        axes = [plot.dtypes(model), plot.layers(model), plot.errors(result),
                plot.histogram(model["model.layers.0.mlp.down_proj.weight"]),
                plot.errors(wb.diff(models / "qwen3-bf16", model))]
        assert len(axes[0].patches) == 2  # BF16 and affine
        bars = sum(bar.get_height() for bar in axes[1].patches) * 2**20
        assert bars == pytest.approx(model.nbytes)
        shared = pyplot.subplots()[1]
        assert plot.dtypes(model, shared) is shared
    for one in axes:
        one.figure.savefig(tmp_path / "plot.png")
    assert len(axes[2].patches) > 10
    pyplot.close("all")
