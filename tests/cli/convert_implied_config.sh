# llama.cpp always normalizes the weights of Qwen 3's experts to a sum of 1, and requires experts in every layer. If
# config.json specifies otherwise, the conversion to GGUF gives a warning about the weights, and is refused because of the
# layers.
cp -r "$DATA/models/qwen3_moe-nvfp4" model
chmod -R u+w model
cp model/config.json config.json
check() { # statements about the config c, codes of what is to be said
    python3 -B - "$1" <<'P'
import json, sys
c = json.load(open("config.json"))
exec(sys.argv[1])
json.dump(c, open("model/config.json", "w"))
P
    shift
    wb convert model model.gguf --force --force-lossy --json >answer
    python3 -B - "$@" <<'P'
import json, sys
told = [f["name"] for f in json.load(open("answer"))["findings"] if f["code"] == "convert-granted"]
assert told == sys.argv[1:], told
P
}
check ''
check 'c["norm_topk_prob"] = False' norm_topk_prob
check 'del c["norm_topk_prob"]' norm_topk_prob
check 'c["decoder_sparse_step"] = 2' decoder_sparse_step
check 'del c["decoder_sparse_step"]; c["mlp_only_layers"] = None'
check 'c["mlp_only_layers"] = []'
check 'c["mlp_only_layers"] = [1]' mlp_only_layers
check 'c["decoder_sparse_step"] = "x"; c["mlp_only_layers"] = 3; c["norm_topk_prob"] = 1.5' norm_topk_prob decoder_sparse_step
code=0
wb convert model refused.gguf 2>message || code=$?
[ "$code" = 3 ]
grep -q 'mlp_only_layers\|decoder_sparse_step' message

# Conversions to MLX, to safetensors and from GGUF give no such warning.
check 'c["norm_topk_prob"] = False' norm_topk_prob
wb convert model mlx --to mlx 2>message
wb convert model plain --to safetensors 2>>message
wb convert model.gguf again.gguf --quant F16 2>>message
! grep granted message || exit 1
