# golden: the output of doctor and verify for GGUF files and stores
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import stores, struct, zoo
stores.main()
meta = [("general.architecture", 8, zoo.string("llama"))]
weight = [("output_norm.weight", 0, [4], zoo.floats(1, 2, 3, 4))]
zoo.save_gguf("sound.gguf", meta, weight)
whole = open("sound.gguf", "rb").read()
open("short.gguf", "wb").write(whole[:-40])
open("cut.gguf", "wb").write(whole[:70])
big = [("general.architecture", 8, zoo.string("llama", ">"))]
zoo.save_gguf("big.gguf", big, [("output_norm.weight", 0, [4], struct.pack(">4f", 1, 2, 3, 4))], ">")
header = bytearray(whole)
header[4:8] = header[4:8][::-1]
open("mixed.gguf", "wb").write(header)
open("legacy.bin", "wb").write(b"tjgg" + struct.pack("<I", 3) + bytes(60))
open("legacy.gguf", "wb").write(b"lmgg" + bytes(60))
open("version1.gguf", "wb").write(b"GGUF" + struct.pack("<III", 1, 0, 0) + bytes(20))
zoo.save_gguf("nan.gguf", meta, [("output_norm.weight", 0, [4], zoo.floats(1, float("nan"), float("inf"), 4))])
zoo.save_gguf("removed.gguf", meta, [("output_norm.weight", 4, [32], bytes(64))])
def part(number):
    return [("split.no", 2, struct.pack("<H", number)), ("split.count", 2, struct.pack("<H", 3)),
            ("split.tensors.count", 5, struct.pack("<i", 3))]
import os
os.mkdir("parts")
os.mkdir("middle")
for number in range(3):
    zoo.save_gguf("parts/m-%05d-of-00003.gguf" % (number + 1), part(number) + (meta if number == 0 else []),
                  [("blk.%d.attn_norm.weight" % number, 0, [4], zoo.floats(1, 2, 3, 4))])
os.rename("parts/m-00002-of-00003.gguf", "middle/m-00002-of-00003.gguf")
os.link("middle/m-00002-of-00003.gguf", "renamed.gguf")
P
unset OLLAMA_MODELS
for path in sound big mixed short cut version1 removed nan legacy renamed; do
    wb doctor $path.gguf
    echo "code $?"
done
wb doctor legacy.bin middle/m-00002-of-00003.gguf parts
echo "code $?"
ln middle/m-00002-of-00003.gguf parts/
wb doctor parts/m-00002-of-00003.gguf
echo "code $?"
wb verify sound.gguf big.gguf mixed.gguf short.gguf nan.gguf removed.gguf renamed.gguf
echo "code $?"
run() {
    wb "$@" >said 2>&1
    code=$?
    sed 's/sha256-[0-9a-f]\{56\}/sha256-…/g' said
    echo "code $code"
}
for name in plain chat hurt lost short gone; do
    run doctor --store store $name
done
run verify --store store chat lost short
