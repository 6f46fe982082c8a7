#!/bin/sh
# Installs the reference programs that the benchmarks compare with: bench/peers.sh [PEER…], all if none is named.
# Each has a folder in bench/peers/. The script runs its install.sh in that folder; $OUT is an empty folder in
# build/peers/, in which install.sh writes an executable `run` with the interface of bench.h. A peer is installed
# again only if its folder has changed. An install.sh that exits with 77 skips its peer.
set -eu
cd "$(dirname "$0")/.."
top=$PWD
[ $# -gt 0 ] || set -- $(ls bench/peers)
failed=0
for peer in "$@"; do
    source=$top/bench/peers/$peer
    OUT=$top/build/peers/$peer
    made_from=$(cd "$source" && find . -type f | LC_ALL=C sort | xargs cksum)
    if [ -x "$OUT/run" ] && [ "$(cat "$OUT/made-from" 2>/dev/null)" = "$made_from" ]; then
        echo "$peer: is there"
        continue
    fi
    rm -rf "$OUT"
    mkdir -p "$OUT"
    code=0
    (cd "$source" && OUT=$OUT sh -eu install.sh) || code=$?
    if [ $code = 77 ]; then
        echo "$peer: skipped"
    elif [ $code = 0 ] && [ -x "$OUT/run" ]; then
        echo "$made_from" >"$OUT/made-from"
        echo "$peer: installed"
    else
        echo "$peer: could not be installed" >&2
        failed=1
    fi
done
exit $failed
