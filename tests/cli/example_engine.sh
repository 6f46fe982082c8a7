# golden: examples/engine.c gets the same buffers from a Hugging Face folder and from a GGUF file.
for name in llama mistral qwen2 qwen3 phi3 gemma gemma2 gemma3 qwen3moe mixtral; do
    "$ENGINE" "$DATA/twins/$name" >folder.txt || echo "$name: $?"
    "$ENGINE" "$DATA/twins/$name.gguf" >gguf.txt || echo "$name.gguf: $?"
    diff folder.txt gguf.txt >difference.txt && echo "$name: the same" || { echo "$name"; head -6 difference.txt; }
done
cat folder.txt
"$ENGINE" "$DATA/none"
