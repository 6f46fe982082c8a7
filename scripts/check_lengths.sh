#!/bin/sh
# Checks the lengths of the files in src/: the median is at most 250 lines, and no file has more than
# 1,000 lines, except for tables (.def).
set -eu
cd "$(dirname "$0")/.."
find src -name '*.[ch]' | xargs wc -l | awk '$2 != "total" { print $1, $2 }' | sort -n | awk '
    { lines[NR] = $1 }
    $1 > 1000 { print $2 " has " $1 " lines"; bad = 1 }
    END {
        median = lines[int((NR + 1) / 2)]
        if (NR == 0 || median > 250) { print "the median is " median " lines"; bad = 1 }
        exit bad
    }'
