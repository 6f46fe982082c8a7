#!/usr/bin/env python3
"""Compares the file types of llama.cpp for all families with llama_model_quantize.

    [LAYERS=8] families_quantize.py WB [NAME…]    run by hand; needs torch, transformers, llama_cpp_py_sync and gguf

For each family of families.py, or for those named, makes a model with random weights whose rows have 256 or more values,
so that every type can be used. Converts the model to GGUF. Quantizes the file to each file type with llama.cpp and with
`wb convert`, and compares the names, types and bytes of the tensors. File types that need an importance matrix are left
out: tests/unit/data/mixes.tsv has the types that they choose.
"""
import os, sys, tempfile
import families

LAYERS = int(os.environ.get("LAYERS", 8))
SIZES = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": LAYERS, "num_layers": LAYERS,
         "moe_intermediate_size": 256, "shared_expert_intermediate_size": 256, "shared_intermediate_size": 256,
         "n_embd": 256, "n_inner": 512, "n_layer": LAYERS, "n_layers": LAYERS, "d_model": 256, "ffn_hidden_size": 512}
FILE_TYPES = {"Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10, "Q3_K_S": 11, "Q3_K_M": 12, "Q3_K_L": 13,
              "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17, "Q6_K": 18, "IQ4_NL": 25, "IQ3_S": 26, "IQ3_M": 27,
              "IQ4_XS": 30, "TQ1_0": 36, "TQ2_0": 37, "MXFP4_MOE": 38}


def enlarge():
    """Enlarges the models of families.py."""
    tables = [families.USUAL] + [entry[1] for entry in families.FAMILIES.values()]
    tables += [entry[1] for entry in families.PEERS.values()] + [entry[2] for entry in families.PEERS.values()]
    for table in tables:
        table.update({key: size for key, size in SIZES.items() if isinstance(table.get(key), int)})
        if "head_dim" in table:
            table["head_dim"] = SIZES["hidden_size"] // table.get("num_attention_heads", 4)
        if "layer_types" in table:
            table["layer_types"] = (table["layer_types"] * LAYERS)[:LAYERS]


def quantize_with_llama(source, result, number):
    """Returns False if llama.cpp refuses the type."""
    from llama_cpp_py_sync._cffi_bindings import get_ffi, get_lib
    ffi, lib = get_ffi(), get_lib()
    params = ffi.new("llama_model_quantize_params *", lib.llama_model_quantize_default_params())
    params.ftype, params.nthread = number, 1
    return lib.llama_model_quantize(source.encode(), result.encode(), params) == 0


def shape_of(tensor):
    """The shape without ones at its end, which llama.cpp drops."""
    shape = [int(n) for n in tensor.shape]
    while len(shape) > 1 and shape[-1] == 1:
        shape.pop()
    return shape


def tensors_of(path):
    import gguf
    return {t.name: (t.tensor_type.name, shape_of(t), t.data.tobytes()) for t in gguf.GGUFReader(path).tensors}


def compare(wb, source, out, quant, number):
    """Returns a word for the result: equal, refused, or the first tensors that differ."""
    ours, theirs = f"{out}/ours.gguf", f"{out}/theirs.gguf"
    if not quantize_with_llama(source, theirs, number):
        return "refused"
    families.run(wb, "convert", source, ours, "--quant", quant, "--force")
    a, b = tensors_of(ours), tensors_of(theirs)
    differ = [f"{name}: {a.get(name, '-')[0]} {b.get(name, '-')[0]}" for name in {**a, **b} if a.get(name) != b.get(name)]
    return f"{quant}: {len(differ)} of {len(b)} tensors differ: {differ[:3]}" if differ else "equal"


def main(wb, *names):
    enlarge()
    faults = 0
    for name in names or sorted([*families.FAMILIES, *families.PEERS]):
        with tempfile.TemporaryDirectory() as out:
            families.make(out, name)
            source = f"{out}/model.gguf"
            families.run(wb, "convert", f"{out}/{name}", source, "--force-lossy")
            families.run(wb, "edit", source, "--set", "tokenizer.ggml.model=no_vocab", "--in-place")
            results = [compare(wb, source, out, *one) for one in FILE_TYPES.items()]
        wrong = [one for one in results if one not in ("equal", "refused")]
        faults += len(wrong)
        print(f"{name}: {results.count('equal')} file types equal, {results.count('refused')} refused by llama.cpp",
              *wrong, sep="\n    ", flush=True)
    return faults


if __name__ == "__main__":
    sys.exit(1 if main(*sys.argv[1:]) else 0)
