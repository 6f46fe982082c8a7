# The same beside the reader in Python.
samples: 9
unit: ms
prepare: test -s vocab.gguf || ../peers/gguf-py/run make vocab.gguf
ours: worker open 1 vocab.gguf
peer: gguf-py open 1 vocab.gguf
floor: worker walk 1 vocab.gguf
