#!/bin/sh
# Faults by the hundred thousand: faults.sh [COUNT]
#
#   scripts/faults.sh            100,000 each of errnos, allocations, kills, short transfers and full
#                                disks, as many power cuts; and every system call under strace
#   scripts/faults.sh 1000000    a million
#
# What was done is written to docs/counts, from where scripts/reliability.sh makes the table of
# docs/reliability.md. Needs the programs of the dev preset (make faults builds them).
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/dev}
count=${1:-100000}
mkdir -p docs/counts
status=0
keep() { # NAME LINE: counts are only of runs without a failure
    echo "$2"
    case $2 in
    *" 0 failed"*) echo "$2" | sed 's/; [0-9.]* s$//' >"docs/counts/$1" ;;
    *) status=1 ;;
    esac
}
for kind in errno alloc kill short room; do
    keep "$kind" "$("$build/tests/fault/fault_writers" $kind "$count" "${SEED:-1}" || true)"
done
keep power "$("$build/tests/fault/fault_power" "$count" "${SEED:-1}" || true)"
exit $status
