#!/bin/sh
# Checks that no source file calls a function listed in scripts/banned.txt.
# Usage: check_banned.sh [ROOT]
set -eu
table=$(cd "$(dirname "$0")" && pwd)/banned.txt
cd "${1:-$(dirname "$0")/..}"
find src -name '*.[ch]' | LC_ALL=C sort | xargs awk -v table="$table" '
    BEGIN {
        while ((getline line < table) > 0) {
            if (line ~ /^#/ || line == "") continue
            split(line, word, " ")
            where[word[1]] = word[2]
            sub(/^[^ ]+ +[^ ]+ +/, "", line)
            why[word[1]] = line
        }
    }
    # Remove comments; empty string and character literals.
    function code(line,    out, mark) {
        out = ""
        for (;;) {
            if (in_comment) {
                if (!match(line, /\*\//)) return out
                line = substr(line, RSTART + 2)
                in_comment = 0
            }
            if (!match(line, /\/\*|\/\/|"|\047/)) return out line
            mark = substr(line, RSTART, RLENGTH)
            out = out substr(line, 1, RSTART - 1)
            line = substr(line, RSTART + RLENGTH)
            if (mark == "//") return out
            if (mark == "/*") { in_comment = 1; out = out " "; continue }
            out = out mark mark
            if (!match(line, mark == "\"" ? /^([^\\"]|\\.)*"/ : /^([^\\\047]|\\.)*\047/)) return out
            line = substr(line, RLENGTH + 1)
        }
    }
    function is_allowed(file, list,    n, item, i) {
        n = split(list, item, ",")
        for (i = 1; i <= n; i++)
            if (index(file, item[i]) == 1) return 1
        return 0
    }
    FNR == 1 { in_comment = 0; files++ }
    {
        text = code($0)
        while (match(text, /[A-Za-z_][A-Za-z_0-9]*[ \t]*\(/)) {
            before = substr(text, 1, RSTART - 1)
            name = substr(text, RSTART, RLENGTH - 1)
            text = substr(text, RSTART + RLENGTH)
            sub(/[ \t]+$/, "", name)
            # Struct members and attributes may have these names.
            if (before ~ /(->|\.)$/ || before ~ /__attribute__\(\($/) continue
            if ((name in where) && !is_allowed(FILENAME, where[name])) {
                print FILENAME ":" FNR ": " name ": " why[name]
                bad = 1
            }
        }
    }
    END {
        if (files < 1) { print "no sources were found"; exit 1 }
        exit bad
    }'
