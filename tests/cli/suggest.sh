# golden: suggestions for misspelled names of tensors, keys, types, commands, options and values
ln -s "$DATA/twins/llama.gguf" m.gguf
ln -s "$DATA/twins/llama" hf
try() {
    echo "\$ wb $*"
    code=0
    wb "$@" >answer 2>message || code=$?
    grep -v "^    Type 'wb help'" message || true
    [ "$code" = 4 ] || echo "code $code"
    [ ! -s answer ] || { echo "an answer:"; cat answer; }
}
# Tensors: misspelled, the name in the other format, the canonical name, and a layer that is not there.
try export m.gguf blk.0.attn_qq.weight -o x.npy
try export m.gguf model.layers.1.self_attn.q_proj.weight -o x.npy
try export hf blk.1.attn_q.weight -o x.npy --follow-links
try export hf layers.1.attention.qq.weight -o x.npy --follow-links
try export m.gguf blk.77.attn_q.weight -o x.npy
try export m.gguf something.else -o x.npy
try get m.gguf blk.0.atn_q.weight -o x.npy
try get m.gguf nothing.like.this -o x.npy
# Metadata keys
try inspect m.gguf --metadata llama.context_lenght
try inspect m.gguf --metadata no.such.key
# Types
try convert m.gguf x.gguf --quant Q4_KM
try convert m.gguf x.gguf --quant q4-k-m
try convert m.gguf x.gguf --quant Q4_K_X
try convert m.gguf x.gguf --quant affine4_64
try convert m.gguf x.gguf --quant best
try export m.gguf output.weight --dtype float16 -o x.npy
try export m.gguf output.weight --dtype flot16 -o x.npy
try codec encode a b --type q4k --cols 32
try codec encode a b --type Q4_KK --cols 32
# Commands
try inspekt m.gguf
try quantize m.gguf x.gguf
try info m.gguf
try converrt m.gguf x.gguf
try help verfy
try wibble
# Options: only those of the command, and no word that merely has the same length
try inspect m.gguf --tre
try inspect m.gguf --jsn
try inspect m.gguf --metdata
try convert m.gguf x.gguf --quantize Q8_0
try convert m.gguf x.gguf --overwrite
try convert m.gguf x.gguf --outtype q8_0
try verify m.gguf --quantt
try inspect m.gguf --wibble
try inspect m.gguf --names=cannonical
try convert m.gguf x --to gguff
try convert m.gguf
try convert m.gguf a b
try
[ ! -e x.npy ] && [ ! -e x.gguf ] && [ ! -e x ] || echo "something was written"
