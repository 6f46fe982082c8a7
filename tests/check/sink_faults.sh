#!/bin/sh
# Every system call of the sink fails in turn, with each error that the call can return, and the process is killed
# at each call in turn. In every case the file is the old one or the complete new one; the sink reports success only
# for the new one, and leaves no temporary file after an error.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
${CC:-cc} -std=c11 -O1 -Iinclude tests/tools/sink_write.c "$BUILD/libweighbridge.a" -lm -o "$scratch/sink_write"
if ! strace -o /dev/null true 2>/dev/null; then
    echo "skipped: strace cannot trace here"
    exit 0
fi
blocks=4
new=$(head -c $((blocks * 4096)) /dev/zero | tr '\0' n | cksum)
old=$(printf old | cksum)
tries=0
killed=0

# one SYSCALL INJECTION NTH existing|fresh
one() {
    rm -rf "$scratch/out"
    mkdir "$scratch/out"
    [ "$4" = fresh ] || printf old >"$scratch/out/file"
    result=0
    strace -qq -o "$scratch/trace" -e trace="$1" -e inject="$1:$2:when=$3" \
        "$scratch/sink_write" "$scratch/out/file" n "$blocks" 2>"$scratch/message" || result=$?
    grep -q -e INJECTED -e SIGKILL "$scratch/trace" || return 1 # there is no NTH call
    tries=$((tries + 1))
    now=none
    [ -e "$scratch/out/file" ] && now=$(cksum <"$scratch/out/file")
    case $now in
    "$new") ;;
    "$old") [ "$4" = existing ] || fail "$@" "old content out of nowhere" ;;
    none) [ "$4" = fresh ] || fail "$@" "the old file is gone" ;;
    *) fail "$@" "torn" ;;
    esac
    if [ "$result" -eq 0 ] && [ "$now" != "$new" ]; then
        fail "$@" "told success"
    fi
    if [ "$result" -ge 128 ]; then
        killed=$((killed + 1))
    elif [ "$(ls -A "$scratch/out" | grep -vxc file)" -ne 0 ]; then
        fail "$@" "left $(ls -A "$scratch/out")"
    fi
    return 0
}

fail() {
    echo "sink, $*" >&2
    exit 1
}

sweep() { # SYSCALL INJECTION
    for state in existing fresh; do
        nth=1
        while [ "$nth" -le 12 ] && one "$1" "$2" "$nth" "$state"; do
            nth=$((nth + 1))
        done
    done
}

for call in openat write fallocate fsync ftruncate linkat renameat close fchmod fstat newfstatat readlink; do
    sweep "$call" signal=SIGKILL
done
for injection in openat:EMFILE openat:ENOSPC openat:EOPNOTSUPP write:ENOSPC write:EIO write:EINTR \
    write:EDQUOT fallocate:ENOSPC fallocate:EOPNOTSUPP fallocate:EINTR fsync:EIO fsync:ENOSPC fsync:EINTR \
    ftruncate:EIO linkat:EEXIST linkat:ENOSPC linkat:EPERM renameat:EACCES renameat:EIO close:EIO \
    close:EINTR fchmod:EPERM readlink:EIO; do
    sweep "${injection%:*}" "error=${injection#*:}"
done
echo "$tries faults, $killed of them kills: no torn file, no false success, nothing left behind"
[ "$tries" -gt 50 ] && [ "$killed" -gt 10 ] || exit 1
