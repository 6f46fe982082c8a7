# golden: config, layers, names, tokens and template of models
model=$DATA/twins/qwen3moe
wb inspect "$model" --config
wb inspect "$model" --layers --names canonical
wb inspect "$model.gguf" --layers | tail -n +8
wb inspect "$model" --filter 'layers.0.attention*' --names canonical --no-metadata
wb inspect "$model.gguf" --filter 'blk.1.attn_[kq]*' --names both --no-metadata
wb inspect "$DATA/twins/gemma3" --tokens | head -13
wb inspect "$model" --metadata qwen3moe.expert_count
wb inspect --metadata tokenizer.ggml.eos_token_id "$model"
wb inspect --metadata=general.architecture "$model.gguf" "$DATA/twins/llama"
wb inspect "$model" --metadata no.such.key
echo "code $?"
wb inspect "$DATA/twins/bert" --template
echo "code $?"
python3 -B "$SOURCE/tests/cli/zoo.py"
wb inspect one.safetensors --layers --config
# The last tensor does not match the filter.
wb inspect --layers --filter 'blk.0.attn_k*' "$DATA/twins/llama.gguf"
