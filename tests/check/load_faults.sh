#!/bin/sh
# Every read of loading fails in turn: interrupted reads are repeated, errors told with file and offset,
# whatever the way bytes are fetched; and what the system does not offer is done without.
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

# Only calls on these files count: the C library reads, too.
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

# The digests of all files were right.
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
        # What measures the disk afterwards may fail as it likes.
        if [ "$code" -eq 0 ]; then
            sound $io EIO $nth
        else
            [ "$code" -eq 5 ] || fail "$io EIO $nth: exit code $code"
            grep -q 'safetensors.*cannot read the file' "$scratch/err" || fail "$io EIO $nth: another message"
        fi
    done
    [ "$nth" -gt 1 ] || fail "$io: only $nth reads"
done

# Reading past the page cache that turns out not to be possible: through it, then.
load direct pread64 error=EINVAL 1 || true
for nth in 1 2 3 4 5 6 7 8 9 10 11 12; do
    load direct openat error=EINVAL $nth || break
    [ "$code" -ne 0 ] || sound direct openat $nth
done
load auto 451 error=ENOSYS 1+ && sound auto cachestat
load auto fstatfs error=EIO 1+ && sound auto fstatfs
[ "$tries" -gt 12 ] || fail "only $tries tries"
