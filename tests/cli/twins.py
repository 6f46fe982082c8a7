"""Writes the models of data/twins in other forms into the current folder: FAMILY.mlx, an MLX folder, and
a store with FAMILY (a blob a tensor, as Ollama imports folders) and FAMILY-gguf (one blob). Whisper, which
data/twins has not, comes as whisper (Hugging Face), whisper.mlx, whisper.npz (MLX of old) and whisper.gguf.
"""
import json
import os
import re
import shutil
import struct

import stores
import zoo

BESIDE = ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "tokenizer.model",
          "vocab.txt", "chat_template.jinja", "1_Pooling/config.json")


def read(path):
    data = open(path, "rb").read()
    n, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + n])
    header.pop("__metadata__", None)
    tensors = []
    for name, t in header.items():
        begin, end = t["data_offsets"]
        tensors.append((name, t["dtype"], t["shape"], data[8 + n + begin:8 + n + end]))
    return tensors


def stack_experts(tensors):
    """What mlx-lm does when it converts: the experts of a layer become one tensor."""
    names = {"w1": "gate_proj", "w2": "down_proj", "w3": "up_proj"}
    out, stacks = [], {}
    for name, dtype, shape, data in tensors:
        m = re.fullmatch(r"(.*\.)experts\.(\d+)\.(\w+)\.weight", name)
        if m:
            whole = m[1] + "switch_mlp." + names.get(m[3], m[3]) + ".weight"
            stacks.setdefault(whole, (dtype, shape, {}))[2][int(m[2])] = data
        else:
            out.append((name, dtype, shape, data))
    for name, (dtype, shape, parts) in stacks.items():
        out.append((name, dtype, [len(parts)] + shape, b"".join(parts[i] for i in range(len(parts)))))
    return sorted(out)


def copy_beside(source, target):
    for name in BESIDE:
        if os.path.exists(source + "/" + name):
            os.makedirs(os.path.dirname(target + "/" + name), exist_ok=True)
            shutil.copy(source + "/" + name, target + "/" + name)


def put_mlx(source, target):
    os.mkdir(target)
    copy_beside(source, target)
    zoo.save(target + "/model.safetensors", stack_experts(read(source + "/model.safetensors")), {"format": "mlx"})


def put_ollama(source, name):
    layers = [stores.tensor(*t) for t in read(source + "/model.safetensors")]
    for beside in BESIDE:
        if os.path.exists(source + "/" + beside):
            layers.append(stores.layer("json", open(source + "/" + beside, "rb").read(), beside))
    stores.manifest(name, layers)


# ---- Whisper ----

D, HEADS, FFN, VOCAB, MELS, SOUND, TEXT, LAYERS = 8, 2, 12, 16, 4, 6, 10, 2


def whisper_tensors():
    """(OpenAI's name, Hugging Face's, shape), the shapes of Hugging Face."""
    def both(a, b, shape, bias=True):
        rows = [(a + ".weight", b + ".weight", shape)]
        return rows + [(a + ".bias", b + ".bias", shape[:1])] if bias else rows

    def attention(a, b):
        rows = []
        for x, y in (("query", "q_proj"), ("key", "k_proj"), ("value", "v_proj"), ("out", "out_proj")):
            rows += both(a + "." + x, b + "." + y, [D, D], x != "key")
        return rows

    rows = both("encoder.conv1", "model.encoder.conv1", [D, MELS, 3])
    rows += both("encoder.conv2", "model.encoder.conv2", [D, D, 3])
    rows += [("encoder.positional_embedding", "model.encoder.embed_positions.weight", [SOUND, D]),
             ("decoder.positional_embedding", "model.decoder.embed_positions.weight", [TEXT, D]),
             ("decoder.token_embedding.weight", "model.decoder.embed_tokens.weight", [VOCAB, D])]
    rows += both("encoder.ln_post", "model.encoder.layer_norm", [D])
    rows += both("decoder.ln", "model.decoder.layer_norm", [D])
    for side in ("encoder", "decoder"):
        for i in range(LAYERS):
            a, b = "%s.blocks.%d." % (side, i), "model.%s.layers.%d." % (side, i)
            rows += attention(a + "attn", b + "self_attn") + both(a + "attn_ln", b + "self_attn_layer_norm", [D])
            if side == "decoder":
                rows += attention(a + "cross_attn", b + "encoder_attn")
                rows += both(a + "cross_attn_ln", b + "encoder_attn_layer_norm", [D])
            rows += both(a + "mlp.0", b + "fc1", [FFN, D]) + both(a + "mlp.2", b + "fc2", [D, FFN])
            rows += both(a + "mlp_ln", b + "final_layer_norm", [D])
    return rows


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def put_npz(path, tensors):
    """As numpy.savez and mlx.core.savez, of arrays of float32."""
    import zipfile
    with zipfile.ZipFile(path, "w") as z:
        for name, shape, data in tensors:
            text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join("%d," % d for d in shape)
            text += " " * (-(len(text) + 11) % 64) + "\n"
            with z.open(name + ".npy", "w", force_zip64=True) as f:
                f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + data)


def put_whisper():
    rows = whisper_tensors()
    values = [struct.pack("<%df" % count(shape), *[(i * 7 + k) % 5 for k in range(count(shape))])
              for i, (_, _, shape) in enumerate(rows)]
    hf = {"model_type": "whisper", "d_model": D, "encoder_layers": LAYERS, "decoder_layers": LAYERS,
          "encoder_attention_heads": HEADS, "decoder_attention_heads": HEADS, "encoder_ffn_dim": FFN,
          "decoder_ffn_dim": FFN, "vocab_size": VOCAB, "num_mel_bins": MELS, "max_source_positions": SOUND,
          "max_target_positions": TEXT}
    mlx = {"model_type": "whisper", "n_mels": MELS, "n_audio_ctx": SOUND, "n_audio_state": D, "n_audio_head": HEADS,
           "n_audio_layer": LAYERS, "n_vocab": VOCAB, "n_text_ctx": TEXT, "n_text_state": D, "n_text_head": HEADS,
           "n_text_layer": LAYERS}
    for folder, config in (("whisper", hf), ("whisper.mlx", mlx), ("whisper.npz", mlx)):
        os.mkdir(folder)
        with open(folder + "/config.json", "w") as f:
            json.dump(config, f)
    zoo.save("whisper/model.safetensors", [(b, "F32", s, v) for (_, b, s), v in zip(rows, values)])

    # MLX calls the two halves of the MLP mlp1 and mlp2, and has the channels of a convolution last.
    def in_mlx(name, shape, data):
        name = name.replace("mlp.0", "mlp1").replace("mlp.2", "mlp2")
        if len(shape) == 3:
            o, c, k = shape
            v = struct.unpack("<%df" % count(shape), data)
            data = struct.pack("<%df" % len(v), *[v[(x * c + z) * k + y] for x in range(o) for y in range(k) for z in range(c)])
            shape = [o, k, c]
        return name, shape, data
    own = [in_mlx(a, s, v) for (a, _, s), v in zip(rows, values)]
    zoo.save("whisper.mlx/model.safetensors", [(n, "F32", s, v) for n, s, v in own], {"format": "mlx"})
    put_npz("whisper.npz/weights.npz", own)

    def number(n):
        return struct.pack("<I", n)
    meta = [("general.architecture", 8, zoo.string("whisper"))]
    for side, context in (("encoder", SOUND), ("decoder", TEXT)):
        for key, value in (("block_count", LAYERS), ("context_length", context), ("embedding_length", D),
                           ("feed_forward_length", FFN), ("attention.head_count", HEADS)):
            meta.append(("whisper.%s.%s" % (side, key), 4, number(value)))
    meta += [("whisper.encoder.mels_count", 4, number(MELS)), ("whisper.vocab_size", 4, number(VOCAB))]
    zoo.save_gguf("whisper.gguf", meta, [(a, 0, s[::-1], v) for (a, _, s), v in zip(rows, values)])


def main(twins):
    os.makedirs("store/blobs")
    families = sorted(f[:-5] for f in os.listdir(twins) if f.endswith(".gguf"))
    for family in families:
        put_mlx(twins + "/" + family, family + ".mlx")
        put_ollama(twins + "/" + family, family)
        stores.manifest(family + "-gguf", [stores.layer("model", open(twins + "/" + family + ".gguf", "rb").read())])
    put_whisper()
    put_ollama("whisper", "whisper")
    return families
