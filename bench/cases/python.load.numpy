# 2 GiB that are in the page cache to numpy, every byte added up on two threads; the peer is load_file.
samples: 9
unit: ms
prepare: weights SMALL 256 load.2GiB
ours: python-worker load 1 load.2GiB
peer: safetensors-numpy load 1 load.2GiB
floor: worker sum 1 kept load.2GiB
