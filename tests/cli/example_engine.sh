# golden: examples/engine.c gets the same buffers from a model in any format, without errors of memory, in two thirds
# of the 112 lines that such a program needed without wb_provider_weights.
[ "$(wc -l <"$SOURCE/examples/engine.c")" -le 74 ] || echo "more than 74 lines"
for name in llama mistral qwen2 qwen3 phi3 gemma gemma2 gemma3 qwen3moe mixtral; do
    "$ENGINE" "$DATA/twins/$name" >folder.txt || echo "$name: $?"
    "$ENGINE" "$DATA/twins/$name.gguf" >gguf.txt || echo "$name.gguf: $?"
    diff folder.txt gguf.txt >difference.txt && echo "$name: the same" || { echo "$name"; head -6 difference.txt; }
done
# llama as a folder for MLX, as shards, as parts, and in an Ollama store as one blob and as one blob per tensor
wb convert "$DATA/twins/llama" mlx --to mlx --follow-links >/dev/null
wb convert "$DATA/twins/llama" shards --to safetensors --max-shard-size 1KB --follow-links >/dev/null
wb convert "$DATA/twins/llama.gguf" part.gguf --max-shard-tensors 4 >/dev/null
OLLAMA_MODELS=$PWD/store
export OLLAMA_MODELS
wb convert "$DATA/twins/llama.gguf" whole --to ollama >/dev/null
wb convert "$DATA/twins/llama" tensors --to ollama --follow-links >/dev/null
"$ENGINE" "$DATA/twins/llama" >llama.txt
for model in mlx shards part-00001-of-*.gguf ollama://whole ollama://tensors; do
    "$ENGINE" "$model" >other.txt || echo "$model: $?"
    cmp llama.txt other.txt && echo "$model: the same"
done
# Quantized weights, whose buffers depend on the encoding
wb convert "$SOURCE/demo/tiny-pycode" q.gguf --quant Q4_K_M >/dev/null
wb convert "$SOURCE/demo/tiny-pycode" q --to mlx --quant affine4:64 >/dev/null
for model in q.gguf q; do
    "$ENGINE" $model | sed 's/, sum.*//' | grep 'layer 3'
done
# valgrind, only with the preset dev: valgrind cannot read the debug information of clang, and the sanitizers of the
# other presets find the same errors.
has_valgrind() {
    case $ENGINE in */build/dev/*) command -v valgrind >/dev/null ;; *) false ;; esac
}
if has_valgrind; then
    for model in "$DATA/twins/llama" "$DATA/twins/llama.gguf" mlx ollama://whole ollama://tensors q.gguf q; do
        valgrind -q --error-exitcode=9 --leak-check=full "$ENGINE" "$model" >valgrind.txt 2>&1 ||
            { echo "$model: $?"; cat valgrind.txt; }
    done
fi
cat folder.txt
"$ENGINE" "$DATA/none"
