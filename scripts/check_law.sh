#!/bin/sh
# Checks the dependency law of scripts/law.txt: check_law.sh [ROOT]
set -eu
law=$(cd "$(dirname "$0")" && pwd)/law.txt
cd "${1:-$(dirname "$0")/..}"
{
    find src -name '*.[ch]' -o -name '*.def'
    for outside in cli bindings examples; do
        [ ! -d "$outside" ] || find "$outside" -name '*.[ch]*'
    done
} | LC_ALL=C sort | xargs grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null |
awk -v law="$law" '
    BEGIN {
        while ((getline line < law) > 0) {
            if (line ~ /^#/ || line == "") continue
            n = split(line, word, " ")
            known[word[1]] = 1
            for (i = 2; i <= n; i++) allowed[word[1], word[i]] = 1
        }
    }
    {
        split($0, part, ":")
        file = part[1]; where = file ":" part[2]
        match($0, /"[^"]*"/)
        header = substr($0, RSTART + 1, RLENGTH - 2)
        split(file, folder, "/")
        room = folder[1] == "src" ? folder[2] : folder[1]
        if (!(room in known)) { print where ": the law knows no room " room; bad = 1; next }
        # The library includes the public headers of the topics that it needs, not all of them.
        if (header == "weighbridge.h" && folder[1] == "src" && file !~ /_public\.c$/) {
            print where ": include weighbridge/TOPIC.h instead of weighbridge.h"; bad = 1
        }
        if (header == "weighbridge.h" || header ~ /^weighbridge\//) next
        slash = index(header, "/")
        target = slash ? substr(header, 1, slash - 1) : ""
        if (folder[1] != "src") {
            # A neighbour in its own folder is no business of the law; a room of src/ is.
            if (target in known && target != room && system("test -d src/" target) == 0) {
                print where ": " room " sees only include/, not " header; bad = 1
            } else if (header ~ /\.\./) {
                print where ": " header " leads out of " room; bad = 1
            }
            next
        }
        if (target == "" || header ~ /\.\./) {
            print where ": write the header as ROOM/NAME.h: " header; bad = 1
        } else if (target != room && !((room, target) in allowed) && !((room, "*") in allowed)) {
            print where ": " room " may not include " header; bad = 1
        }
        checked++
    }
    END {
        if (checked < 1) { print "no includes were found"; exit 1 }
        exit bad
    }'
