#!/bin/sh
# Injects faults. Usage: faults.sh [COUNT]
#
#   scripts/faults.sh            100,000 each of failed system calls, failed allocations, kills, short
#                                transfers, full disks and power cuts; and every system call under strace
#   scripts/faults.sh 1000000    a million of each
#
# The numbers of faults are written to docs/counts, from which scripts/reliability.sh updates the table
# in docs/reliability.md. Needs the programs of the dev preset (make faults builds them).
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/dev}
count=${1:-100000}
mkdir -p docs/counts
status=0
keep() { # NAME LINE; counts are only written after runs without a failure
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
