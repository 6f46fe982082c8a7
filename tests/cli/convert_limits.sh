# Conversions warn about configs for which llama.cpp computes something else than transformers.
check() { # a family, statements about the config c, members that warnings name
    python3 -B - "$DATA/families/$1" "$2" <<'P'
import json, os, shutil, sys
shutil.rmtree("model", ignore_errors=True)
shutil.copytree(sys.argv[1], "model", copy_function=shutil.copyfile)
c = json.load(open("model/config.json"))
exec(sys.argv[2])
json.dump(c, open("model/config.json", "w"))
P
    shift 2
    wb convert model model.gguf --force --json >answer
    python3 -B - "$@" <<'P'
import json, sys
told = [f["name"] for f in json.load(open("answer"))["findings"] if f["code"] == "convert-granted"]
assert told == sys.argv[1:], told
P
}
check smollm3 ''
check smollm3 'c["no_rope_layers"][1] = 0' no_rope_layers
check smollm3 'c["no_rope_layers"][3] = 1' no_rope_layers
check smollm3 'del c["no_rope_layers"]'
check smollm3 'c["use_sliding_window"] = True' use_sliding_window
check cohere2 ''
check cohere2 'del c["layer_types"]'
check cohere2 'c["layer_types"][0] = "full_attention"' layer_types
check cohere2 'c["layer_types"][3] = "sliding_attention"' layer_types
check cohere ''
check starcoder2 'c["sliding_window"] = 64'
check starcoder2 'c["sliding_window"] = 8' sliding_window
check olmoe 'c["norm_topk_prob"] = True' norm_topk_prob
check olmoe 'c["clip_qkv"] = 8.0' clip_qkv
check exaone4 ''
check exaone4 'c["sliding_window"] = 8' sliding_window
