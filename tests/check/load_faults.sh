#!/bin/sh
# Every read call of loading fails in turn, for each way to read. Interrupted reads are repeated; errors are
# reported with file and offset. Where the system does not offer io_uring or direct reads, loading works without
# them.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! strace -o /dev/null true 2>/dev/null; then
    echo "skipped: strace cannot trace here"
    exit 0
fi
mkdir "$scratch/model"
cp tests/data/models/qwen3-4bit-3shards/*.safetensors "$scratch/model"
sums=$(cd "$scratch/model" && sha256sum ./*.safetensors | cut -c1-64 | sort)
tries=0

fail() {
    echo "$*" >&2
    cat "$scratch/out" "$scratch/err" >&2
    exit 1
}

# Only calls on these files count, because the C library also reads files.
first() { ls "$scratch"/model/*1-of*; }
last() { ls "$scratch"/model/*3-of*; }

# load IO SYSCALL INJECTION NTH: the exit code in $code; false if there is no NTH call
load() {
    code=0
    strace -f -qq -o "$scratch/trace" -P "$(first)" -P "$(last)" -e trace="$2" -e inject="$2:$3:when=$4" \
        "$WB" load --io "$1" --verify --json "$scratch/model" >"$scratch/out" 2>"$scratch/err" || code=$?
    grep -q INJECTED "$scratch/trace" || return 1
    tries=$((tries + 1))
}

# The digests of all files are correct.
sound() {
    [ "$code" -eq 0 ] || fail "$*: exit code $code"
    got=$(grep -o '"sha256":"[0-9a-f]*"' "$scratch/out" | cut -d'"' -f4 | sort)
    [ "$got" = "$sums" ] || fail "$*: other digests"
}

for io in auto read direct; do
    for nth in 1 2 3 4 5 6 7 8 9; do
        load $io pread64 error=EINTR $nth || break
        sound $io EINTR $nth
        load $io pread64 error=EIO $nth || break
        # The later calls that measure the disk may fail.
        if [ "$code" -eq 0 ]; then
            sound $io EIO $nth
        else
            [ "$code" -eq 5 ] || fail "$io EIO $nth: exit code $code"
            grep -q 'safetensors.*cannot read the file' "$scratch/err" || fail "$io EIO $nth: another message"
        fi
    done
    [ "$nth" -gt 1 ] || fail "$io: only $nth reads"
done

# If direct reads fail, loading reads through the page cache.
load direct pread64 error=EINVAL 1 || true
for nth in 1 2 3 4 5 6 7 8 9 10 11 12; do
    load direct openat error=EINVAL $nth || break
    [ "$code" -ne 0 ] || sound direct openat $nth
done
load auto 451 error=ENOSYS 1+ && sound auto cachestat
load auto fstatfs error=EIO 1+ && sound auto fstatfs
# If io_uring is missing or begins to fail, as in a sandbox, loading reads with one pread after another.
ring() { # INJECTION NTH
    code=0
    call=${1%%:*}
    strace -f -qq -o "$scratch/trace" -e trace="$call" -e inject="$1:when=$2" \
        "$WB" load --io direct --verify --json "$scratch/model" >"$scratch/out" 2>"$scratch/err" || code=$?
    grep -q INJECTED "$scratch/trace" || return 1
    tries=$((tries + 1))
    sound "$1" "$2"
}
if ring io_uring_setup:error=EPERM 1+; then
    ring io_uring_setup:error=ENOSYS 1+
    for nth in 1 2 3 4 5 6; do
        for error in EINTR EAGAIN EBUSY EBADR; do
            ring io_uring_enter:error=$error $nth || break
        done
    done
fi
[ "$tries" -gt 12 ] || fail "only $tries tries"

# Ctrl-C ends loading at once. The file of 64 GiB, nearly all of it a hole, is large enough that loading is still
# running when the signal arrives.
python3 -B - "$scratch" "$WB" <<'P'
import signal, subprocess, sys, time
path = sys.argv[1] + "/hole.safetensors"
size = 64 << 30
header = b'{"t":{"dtype":"BF16","shape":[%d],"data_offsets":[0,%d]}}' % (size // 2, size)
with open(path, "wb") as f:
    f.write(len(header).to_bytes(8, "little") + header)
    f.truncate(8 + len(header) + size)
for how in (["--io", "read"], ["--io", "direct"], ["--verify"], ["--dtype", "f16"], ["--io", "map"]):
    for wait in (0.05, 0.3):
        p = subprocess.Popen([sys.argv[2], "load", *how, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        time.sleep(wait)
        assert p.poll() is None, (how, p.communicate())
        start = time.monotonic()
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=60)
        took = time.monotonic() - start
        # The signal terminates the command if it arrives before the handler is installed.
        assert p.returncode in (130, -signal.SIGINT), (how, p.returncode, err)
        assert took < 2 and out == b"", (how, took, out)
P
