samples: 3
unit: ms
prepare: { [ -e made/config.json ] || model made; } && worker plan 1 Q8_0 made </dev/null
ours: worker convert 1 Q8_0 made
peer: gguf-py convert 1 Q8_0 made
floor: worker stages 1 Q8_0 made
