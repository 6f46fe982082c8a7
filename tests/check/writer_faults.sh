#!/bin/sh
# Every system call with which the command writes fails in turn, with each error that the call can return, and the
# command is killed at each call in turn. The cases are converting over a file, into parts, into a folder that is
# replaced and into a store, and editing in place. In every case the output is the old one or the complete new one;
# the command reports success only for the new one, and leaves no temporary file after an error. NTH is the number
# of calls of each kind that are tried.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! strace -o /dev/null true 2>/dev/null; then
    echo "skipped: strace cannot trace here"
    exit 0
fi
WB=$(realpath "$WB")
python3 -B - "$scratch" <<'P'
import json, struct, sys
folder = sys.argv[1]
def st(path, tensors):
    header, at, data = {}, 0, b""
    for name, raw in tensors:
        header[name] = {"dtype": "U8", "shape": [len(raw)], "data_offsets": [at, at + len(raw)]}
        at, data = at + len(raw), data + raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    open(f"{folder}/{path}", "wb").write(len(text).to_bytes(8, "little") + text + data)
st("in.safetensors", [("a", b"a" * 3000), ("b", b"b" * 70000), ("c", b"c" * 10)])
st("old.safetensors", [("old", b"o" * 100)])
def string(s):
    return struct.pack("<Q", len(s)) + s
out = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + string(b"general.architecture") + struct.pack("<I", 8)
out += string(b"llama") + string(b"t") + struct.pack("<IQIQ", 1, 9000, 24, 0)
open(f"{folder}/in.gguf", "wb").write(out + b"\0" * (-len(out) % 32) + b"d" * 9000 + b"\0" * (-9000 % 32))
P
cd "$scratch"

# Prints names and contents of all files except temporary ones, as one line.
state() {
    find out -name '.wb-*' -prune -o -type f ! -name '*.wb-journal' -print 2>/dev/null | sort | xargs -r cksum 2>/dev/null | tr '\n' ' '
}
prepare() { # CASE
    rm -rf out
    mkdir out
    case $1 in
    file) cp old.safetensors out/m.safetensors ;;
    folder) mkdir out/m && cp old.safetensors out/m/model.safetensors ;;
    header | insert) cp in.gguf out/m.gguf ;;
    esac
}
run() { # CASE [strace and its options]: the command, traced or not
    what=$1
    shift
    case $what in
    file) "$@" "$WB" convert in.safetensors out/m.safetensors --to safetensors --force ;;
    parts) "$@" "$WB" convert in.safetensors out/m.safetensors --to safetensors --max-shard-tensors 1 ;;
    folder) "$@" "$WB" convert in.safetensors out/m --to safetensors --force --max-shard-tensors 2 ;;
    store) "$@" "$WB" convert in.safetensors m --to ollama --store out/store ;;
    header) "$@" "$WB" edit out/m.gguf --in-place --rename t=u ;;
    insert) "$@" "$WB" edit out/m.gguf --in-place --set "k=$(head -c 6000 /dev/zero | tr '\0' x)" ;;
    esac
}
tries=0
killed=0
fail() {
    echo "writer, $*" >&2
    ls -lA out out/* >&2
    exit 1
}
# Parts are in the new state if the new index exists, a store if the new manifest exists; otherwise they are in the
# old state.
anchored() { # CASE
    case $1 in
    parts) [ -e out/m.safetensors.index.json ] || { echo old; return; } ;;
    store) [ -e out/store/manifests/registry.ollama.ai/library/m/latest ] || { echo old; return; } ;;
    esac
    state
}
one() { # CASE SYSCALL INJECTION NTH
    prepare "$1"
    result=0
    run "$1" strace -f -qq -o trace -e "trace=$2" -e "inject=$2:$3:when=$4" >/dev/null 2>message || result=$?
    grep -q -e INJECTED -e SIGKILL trace || return 1 # there is no such call
    tries=$((tries + 1))
    case $1 in
    header | insert)
        # A kill may leave a file half edited; the next edit first restores it.
        [ "$result" -ge 128 ] || [ ! -e out/.m.gguf.wb-journal ] || [ "$result" -ne 0 ] || fail "$@" "journal left"
        "$WB" edit out/m.gguf >/dev/null || fail "$@" "cannot be recovered"
        ;;
    esac
    now=$(anchored "$1")
    if [ "$now" = "$new" ]; then
        :
    elif [ "$now" != "$old" ]; then
        fail "$@" "torn: $now"
    elif [ "$result" -eq 0 ]; then
        fail "$@" "told success"
    fi
    if [ "$result" -ge 128 ]; then
        killed=$((killed + 1))
    elif [ -n "$(find out -name '.wb-*' -o -name '*.wb-journal')" ]; then
        fail "$@" "left $(find out -name '.wb-*' -o -name '*.wb-journal')"
    fi
}
sweep() { # CASE SYSCALL INJECTION
    nth=1
    while [ "$nth" -le "${NTH:-4}" ] && one "$1" "$2" "$3" "$nth"; do
        nth=$((nth + 1))
    done
}
for case in file parts folder store header insert; do
    prepare $case
    case $case in parts | store) old=old ;; *) old=$(state) ;; esac
    run $case >/dev/null
    new=$(anchored $case)
    [ "$new" != "$old" ]
    for call in openat write pwrite64 copy_file_range fallocate fsync ftruncate linkat renameat renameat2 \
        unlink unlinkat close mkdir rmdir fchmod; do
        sweep $case $call signal=SIGKILL
    done
    for injection in openat:EMFILE openat:ENOSPC write:ENOSPC write:EIO write:EINTR pwrite64:ENOSPC \
        pwrite64:EIO pwrite64:EDQUOT pwrite64:EINTR copy_file_range:EIO copy_file_range:ENOSPC \
        copy_file_range:EXDEV copy_file_range:EINVAL copy_file_range:EINTR fallocate:ENOSPC \
        fallocate:EOPNOTSUPP fallocate:EINTR fsync:EIO fsync:EINTR ftruncate:EIO linkat:EEXIST linkat:EPERM \
        renameat:EACCES renameat2:EIO close:EIO mkdir:ENOSPC fchmod:EPERM pread64:EIO; do
        sweep $case "${injection%:*}" "error=${injection#*:}"
    done
done
echo "$tries faults, $killed of them kills: nothing torn, no false success, nothing left behind"
[ "$tries" -gt 200 ] && [ "$killed" -gt 50 ] || exit 1
