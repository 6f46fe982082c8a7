# Outputs that are not regular files: standard output under all its names, pipes, devices, files without a name.
# They are never replaced or removed, and output that they cannot receive is refused before any work.
cp -r "$DATA/models/qwen3-bf16" m
wb convert m g.gguf >/dev/null
wb export g.gguf output_norm.weight -o e.raw >/dev/null
wb get g.gguf output_norm.weight -o b.raw >/dev/null
wb hash g.gguf --manifest manifest >/dev/null
head -c 4096 m/model.safetensors >v.f32
wb codec encode --type Q8_0 --cols 64 v.f32 v.q8 >/dev/null
mkfifo pipe

# A path that names standard output is standard output, also if that is a file; its earlier contents stay.
for name in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
    { echo before; wb convert g.gguf $name --to gguf; } >out
    tail -c +8 out | cmp - g.gguf
    wb convert g.gguf $name --to gguf | cmp - g.gguf
    wb export g.gguf output_norm.weight --format raw -o $name | cmp - e.raw
    wb get g.gguf output_norm.weight -o $name | cmp - b.raw
    wb hash g.gguf --manifest $name | cmp - manifest
    wb codec encode --type Q8_0 --cols 64 v.f32 $name | cmp - v.q8
done

# A pipe given by a path, and by a link in /proc, as in process substitution.
for name in pipe /dev/fd/7; do
    into() {
        cmp - "$1" <pipe &
        shift
        "$@" 7>pipe
        wait $!
    }
    [ $name != pipe ] || into() { cmp - "$1" <pipe & shift; "$@"; wait $!; }
    into g.gguf wb convert g.gguf $name --to gguf
    into e.raw wb export g.gguf output_norm.weight --format raw -o $name
    into b.raw wb get g.gguf output_norm.weight -o $name
    into manifest wb hash g.gguf --manifest $name
    into v.q8 wb codec encode --type Q8_0 --cols 64 v.f32 $name
done
[ -p pipe ]

# A file without a name receives the bytes and gets no name. Output that is written out of order is refused
# immediately.
find . >before
python3 - <<'P'
import subprocess, tempfile
export = ["export", "g.gguf", "output_norm.weight", "--format", "raw", "-o", "PATH"]
for want, code, command in [("e.raw", 0, export),
                            ("g.gguf", 0, ["convert", "g.gguf", "PATH", "--to", "gguf"]),
                            (None, 4, ["convert", "m", "PATH", "--to", "gguf"]),
                            (None, 4, ["convert", "m", "PATH", "--to", "gguf", "--dry-run"])]:
    with tempfile.TemporaryFile(dir=".") as f:
        path = "/dev/fd/%d" % f.fileno()
        p = subprocess.run(["wb"] + [path if word == "PATH" else word for word in command],
                           pass_fds=[f.fileno()], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        f.seek(0)
        assert p.returncode == code, (command, p)
        assert f.read() == (open(want, "rb").read() if want else b""), command
        assert want or b"name a file or a folder" in p.stderr, p
P
find . | cmp - before

# Outputs written out of order cannot go to a stream, which is reported at once, also by --dry-run.
refused() {
    got=0
    timeout 20 wb "$@" >out 2>err || got=$?
    [ $got = 4 ] && [ ! -s out ] && grep -q 'name a file or a folder' err || { echo "$*: $got"; cat err; exit 1; }
}
for name in pipe - /dev/stdout /dev/null; do
    refused convert m $name --to gguf --quant Q8_0
    refused convert m $name --to gguf --dry-run
    refused convert g.gguf $name --to npz
    refused convert g.gguf $name --to safetensors --force
done
if mknod null c 1 3 2>/dev/null && [ -c null ]; then
    refused convert m null --to gguf
    wb convert g.gguf null --to gguf
    wb export g.gguf output_norm.weight -o null
    wb get g.gguf output_norm.weight -o null
    wb hash g.gguf --manifest null
    for command in 'edit null --set a=b' 'realign null --alignment 64'; do
        got=0
        wb $command 2>err || got=$?
        [ $got = 2 ]
    done
    [ -c null ]
fi
[ -p pipe ] && [ -c /dev/null ] || exit 1
find . -name '.*.wb-*' | grep . && exit 1

# If the reader has closed the pipe, the command ends without a message. Ctrl-C ends it immediately, whether or not
# a process reads.
python3 - <<'P'
import os, signal, subprocess, time
open("large.f32", "wb").truncate(1 << 24)
big = "large.safetensors"
head = b'{"t":{"dtype":"U8","shape":[16777216],"data_offsets":[0,16777216]}}     '
open(big, "wb").write(len(head).to_bytes(8, "little") + head + bytes(1 << 24))
commands = [["convert", big, "pipe", "--to", "safetensors"],
            ["export", big, "t", "--format", "raw", "-o", "pipe"],
            ["get", big, "t", "-o", "pipe"],
            ["codec", "encode", "--type", "F16", "--cols", "64", "large.f32", "pipe"]]
for command in commands:
    for reads in True, False:
        p = subprocess.Popen(["wb", *command], stderr=subprocess.PIPE)
        fd = os.open("pipe", os.O_RDONLY)
        os.read(fd, 10)
        if reads:
            time.sleep(0.2) # it waits for us now
            p.send_signal(signal.SIGINT)
            code = p.wait(20)
        os.close(fd)
        code = p.wait(20)
        assert code in ((130, -signal.SIGINT) if reads else (0,)), (command, reads, code)
        assert p.stderr.read() == b"", command
    p = subprocess.Popen(["wb", *command], stderr=subprocess.PIPE)
    time.sleep(0.5) # it waits for somebody who reads
    p.send_signal(signal.SIGINT)
    code = p.wait(20)
    assert code in (130, -signal.SIGINT) and p.stderr.read() == b"", (command, code)
P
# Standard output can be used for only one output.
for command in 'convert g.gguf - --to gguf --json' 'convert g.gguf /dev/stdout --to gguf --json'; do
    got=0
    wb $command >out 2>err || got=$?
    [ $got = 4 ] && grep -q 'cannot both use standard output' err || exit 1
done
wb convert g.gguf - --to gguf --dry-run --json | python3 -c 'import json, sys; assert json.load(sys.stdin)["files"][0]["path"] == "-"'
wb convert g.gguf - --to gguf --dry-run | grep -q '^-  '
