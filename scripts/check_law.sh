#!/bin/sh
# Checks the dependency law of scripts/law.txt: check_law.sh [ROOT] [OBJECTS...]
#
#   includes  a file of a module includes headers of the modules that its row names, and no other;
#             weighbridge.h, the whole public interface, only in *_public.c
#   symbols   with OBJECTS (directories of object files in the layout of src/): an object file refers to
#             symbols of the modules that its row names, and no other
#   cycles    the rows have none; with OBJECTS, the files of a module have none but those that
#             scripts/cycles.allow lists
set -eu
scripts=$(cd "$(dirname "$0")" && pwd)
law=$scripts/law.txt
allow=$scripts/cycles.allow
cd "${1:-$scripts/..}"
[ $# -eq 0 ] || shift
status=0

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
            for (i = 2; i <= n; i++) {
                allowed[word[1], word[i]] = 1
                if (word[i] != "include" && !(word[i] in known)) {
                    print law ": " word[1] " is above " word[i] ", which has to come first: a cycle"
                    bad = 1
                }
            }
        }
    }
    {
        split($0, part, ":")
        file = part[1]; where = file ":" part[2]
        match($0, /"[^"]*"/)
        header = substr($0, RSTART + 1, RLENGTH - 2)
        split(file, directory, "/")
        module = directory[1] == "src" ? directory[2] : directory[1]
        if (!(module in known)) { print where ": the law has no module " module; bad = 1; next }
        if (directory[1] == "src" && header == "weighbridge.h" && file !~ /_public[.]c$/) {
            print where ": include the topic header, such as weighbridge/base.h"; bad = 1
        }
        if (header == "weighbridge.h" || header ~ /^weighbridge\//) next
        slash = index(header, "/")
        target = slash ? substr(header, 1, slash - 1) : ""
        if (directory[1] != "src") {
            # The law says nothing about headers of the same directory, only about modules of src/.
            if (target in known && target != module && system("test -d src/" target) == 0) {
                print where ": " module " sees only include/, not " header; bad = 1
            } else if (header ~ /\.\./) {
                print where ": " header " leads out of " module; bad = 1
            }
            next
        }
        if (target == "" || header ~ /\.\./) {
            print where ": write the header as MODULE/NAME.h: " header; bad = 1
        } else if (target != module && !((module, target) in allowed)) {
            print where ": " module " may not include " header; bad = 1
        }
        checked++
    }
    END {
        if (checked < 1) { print "no includes were found"; exit 1 }
        exit bad
    }' || status=1

[ $# -gt 0 ] || exit $status
# Objects of sources that are gone, left from an earlier build, do not count.
{
    find src -name '*.c'
    for objects; do
        (cd "$objects" && find . -name '*.o' | LC_ALL=C sort | xargs nm -A -P)
    done
} | awk -v law="$law" -v allow="$allow" '
    function module_of(file) { return substr(file, 1, index(file, "/") - 1) }
    BEGIN {
        while ((getline line < law) > 0) {
            if (line ~ /^#/ || line == "") continue
            n = split(line, word, " ")
            for (i = 2; i <= n; i++) allowed[word[1], word[i]] = 1
        }
        while ((getline line < allow) > 0) {
            if (line ~ /^#/ || line == "") continue
            split(line, word, " ")
            excused[word[1], word[2]] = excused[word[2], word[1]] = 1
        }
    }
    NF == 1 { exists[substr($1, 5)] = 1; next } # src/FILE
    {
        file = substr($1, 3) # ./FILE
        sub(/[.]o(bj)?:$/, "", file)
        if (!(file in exists)) next
        if (!(file in seen)) { seen[file] = 1; count++ }
    }
    $2 !~ /^wb_/ { next }
    $3 == "U" { uses[++used] = file; symbol[used] = $2; next }
    $3 ~ /^[A-TV-Z]$/ { home[$2] = file }
    END {
        for (i = 1; i <= used; i++) {
            from = uses[i]; to = home[symbol[i]]
            if (to == "" || to == from) continue
            a = module_of(from); b = module_of(to)
            calls++
            if (a != b) {
                if (!((a, b) in allowed)) { print "src/" from ": " a " may not use " symbol[i] " of src/" to; up++ }
            } else if (!((from, to) in excused) && !((from, to) in edge)) {
                edge[from, to] = symbol[i]
                out[from]++; into[to]++
                tail[++edges] = from; head[edges] = to
            }
        }
        # Takes away files that use no other, or that no other uses, until only those on cycles remain.
        do {
            changed = 0
            for (e = 1; e <= edges; e++) {
                if (gone[e] || (out[head[e]] > 0 && into[tail[e]] > 0)) continue
                gone[e] = changed = 1
                out[tail[e]]--; into[head[e]]--
            }
        } while (changed)
        for (e = 1; e <= edges; e++) {
            if (gone[e]) continue
            print "src/" tail[e] " is in a cycle: it uses " edge[tail[e], head[e]] " of src/" head[e]
            cycles++
        }
        printf "%d files, %d references between them: %d calls upwards, %d references in undocumented cycles\n",
            count, calls, up, cycles
        if (count < 1 || calls < 1) { print "no object files were found"; exit 1 }
        exit up > 0 || cycles > 0
    }' || status=1
exit $status
