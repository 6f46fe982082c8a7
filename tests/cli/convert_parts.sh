# Models with another head than their family, or without one.
python3 -B - "$DATA" <<'P'
import json, os, shutil, struct, sys

def write(folder, config, tensors):
    header, data = {}, b""
    for name, (dtype, shape, stored) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(stored)]}
        data += stored
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    os.makedirs(folder)
    open(folder + "/model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
    json.dump(config, open(folder + "/config.json", "w"))

def read(folder):
    data = open(folder + "/model.safetensors", "rb").read()
    n = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + n])
    header.pop("__metadata__", None)
    return json.load(open(folder + "/config.json")), {
        k: (t["dtype"], t["shape"], data[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]]) for k, t in header.items()}

# BertForMaskedLM and BertForPreTraining have a head beside the encoder.
config, tensors = read(sys.argv[1] + "/twins/bert")
dim, words = config["hidden_size"], config["vocab_size"]
head = {"cls.predictions.bias": [words], "cls.predictions.decoder.weight": [words, dim], "cls.predictions.decoder.bias": [words],
        "cls.predictions.transform.dense.weight": [dim, dim], "cls.predictions.transform.dense.bias": [dim],
        "cls.predictions.transform.LayerNorm.weight": [dim], "cls.predictions.transform.LayerNorm.bias": [dim],
        "cls.seq_relationship.weight": [2, dim], "cls.seq_relationship.bias": [2]}
size = lambda shape: 4 * shape[0] * (shape[1] if len(shape) > 1 else 1)
encoder = {k if k.startswith("bert.") else "bert." + k: v for k, v in tensors.items()}
write("masked", dict(config, architectures=["BertForPreTraining"]),
      encoder | {k: ("F32", shape, bytes(size(shape))) for k, shape in head.items()})

# Qwen3Model has no output matrix.
config, tensors = read(sys.argv[1] + "/twins/qwen3")
base = {k.removeprefix("model."): v for k, v in tensors.items() if k != "lm_head.weight"}
write("base", dict(config, architectures=["Qwen3Model"]), base)
write("headless", dict(config, architectures=["Qwen3ForCausalLM"]), base)

write("whisper", dict(model_type="whisper", d_model=4, encoder_layers=1, decoder_layers=1, vocab_size=2,
                      decoder_start_token_id=7),
      {"model.decoder.embed_tokens.weight": ("F32", [2, 4], bytes(32))})
P

wb convert masked masked.gguf --json >answer
python3 -B - <<'P'
import json
left = [f["name"] for f in json.load(open("answer"))["findings"] if f["code"] == "convert-left-out"]
assert len(left) == 9 + 2 and all(name.startswith(("cls.", "bert.pooler.")) for name in left), left
P
wb convert "$DATA/twins/bert" plain.gguf
wb diff plain.gguf masked.gguf | tail -1

wb verify base | grep '^base: sound'
wb verify headless >answer || true
grep -q tensor-missing answer

wb convert whisper whisper.gguf | grep 'llama.cpp does not load models of this architecture'
wb convert whisper.gguf back --to safetensors
grep '"decoder_start_token_id": 7' back/config.json
