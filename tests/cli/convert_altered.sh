# Each member of config.json of each family is altered. The conversion to GGUF refuses the model, warns, or writes another
# file.
exec python3 -B "$SOURCE/tests/tools/alter_configs.py" "$WB" "$DATA"
