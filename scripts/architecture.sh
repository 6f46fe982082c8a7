#!/bin/sh
# Draws the modules of src/ and their dependencies: architecture.sh [--check]
#
# Reads scripts/law.txt and writes docs/dev/architecture.svg; with --check, fails if that file differs. A module
# stands above all modules that it uses. Lines that other lines imply are left out: where a uses b and b uses c,
# a line from a to c would say nothing new. scripts/check_law.sh compares the law with includes and symbols, so
# the picture is true.
set -eu
cd "$(dirname "$0")/.."
picture=docs/dev/architecture.svg
draw() {
    awk '
    /^#/ || NF == 0 { next }
    $2 == "include" { next } # outside src/
    {
        module[++count] = $1
        level[$1] = 0
        for (i = 2; i <= NF; i++) {
            uses[$1, $i] = 1
            if (level[$i] + 1 > level[$1]) level[$1] = level[$i] + 1
        }
        if (level[$1] > top) top = level[$1]
        place[$1] = ++filled[level[$1]]
        if (filled[level[$1]] > widest) widest = filled[level[$1]]
    }
    END {
        box_w = 108; box_h = 34; gap_x = 26; gap_y = 62; margin = 24
        width = 2 * margin + widest * box_w + (widest - 1) * gap_x
        height = 2 * margin + (top + 1) * box_h + top * gap_y
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" ", width, height
        print "aria-label=\"Modules of src/ and their dependencies\">"
        print "<style>rect{fill:#eef3f8;stroke:#456;stroke-width:1.2}text{font:15px sans-serif;fill:#123;" \
              "text-anchor:middle}path{fill:none;stroke:#789;stroke-width:1.1}</style>"
        printf "<rect x=\"0\" y=\"0\" width=\"%d\" height=\"%d\" style=\"fill:#fff;stroke:none\"/>\n", width, height
        for (m = 1; m <= count; m++) {
            a = module[m]; l = level[a]
            row = filled[l] * box_w + (filled[l] - 1) * gap_x
            x[a] = (width - row) / 2 + (place[a] - 1) * (box_w + gap_x)
            y[a] = margin + (top - l) * (box_h + gap_y)
        }
        for (m = 1; m <= count; m++) for (n = 1; n <= count; n++) {
            a = module[m]; c = module[n]
            if (!((a, c) in uses)) continue
            implied = 0
            for (k = 1; k <= count && !implied; k++)
                implied = ((a, module[k]) in uses) && ((module[k], c) in uses)
            if (implied) continue
            x1 = x[a] + box_w / 2; y1 = y[a] + box_h; x2 = x[c] + box_w / 2; y2 = y[c]
            printf "<path d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\"/>\n",
                x1, y1, x1, y1 + 40, x2, y2 - 40, x2, y2
        }
        for (m = 1; m <= count; m++) {
            a = module[m]
            printf "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"5\"/>", x[a], y[a], box_w, box_h
            printf "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", x[a] + box_w / 2, y[a] + 22, a
        }
        print "</svg>"
    }' scripts/law.txt
}
if [ "${1:-}" = --check ]; then
    draw | cmp -s - "$picture" || { echo "$picture is old: run scripts/architecture.sh" >&2; exit 1; }
else
    draw >"$picture"
fi
