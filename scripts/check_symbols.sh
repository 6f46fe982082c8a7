#!/bin/sh
# Checks what the library is made of, as it was built: check_symbols.sh BUILD
#   - writable globals are those of scripts/globals.allow
#   - every external symbol of the static library begins with wb_ or wb__
#   - the shared library exports what the stable headers declare as WB_API, and nothing else
#   - it needs libc and libm alone
#   - it has no network code: no module net, and no function of libc or libcurl that uses sockets
#   - libweighbridge-net exports what weighbridge/net.h declares, and needs libc and libm alone
set -eu
cd "$(dirname "$0")/.."
build=$1
static=$build/libweighbridge.a
shared=$build/libweighbridge.so
status=0

complain() { # WHAT LINES
    [ -z "$2" ] || { printf '%s:\n%s\n' "$1" "$2" >&2; status=1; }
}

# .data.rel.ro contains data that only the dynamic linker writes.
set -- "$static"
[ ! -e "$build/libweighbridge-net.a" ] || set -- "$@" "$build/libweighbridge-net.a"
globals=$(nm --format=sysv -A "$@" | awk -F'|' '
    { gsub(/ /, "", $1); gsub(/ /, "", $4); gsub(/ /, "", $7) }
    $7 ~ /^(\.data|\.bss|\.tdata|\.tbss|COM|\*COM\*)/ && $7 !~ /^\.data\.rel\.ro/ && $4 !~ /SECTION/ {
        n = split($1, part, ":")
        sub(/\.[0-9]+$/, "", part[n])
        print part[n - 1], part[n]
    }' | LC_ALL=C sort -u)
allowed=$(awk '!/^#/ && NF { print $1, $2 }' scripts/globals.allow)
[ -n "$globals" ] || complain "no globals were found, not even those allowed" "$static"

unmatched() {
    echo "$1" | while read -r line; do
        echo "$allowed" | (while read -r pattern; do
            case $line in $pattern) exit 0 ;; esac
        done; exit 1) || echo "$line"
    done
}
unused() {
    echo "$allowed" | while read -r pattern; do
        echo "$globals" | (while read -r line; do
            case $line in $pattern) exit 0 ;; esac
        done; exit 1) || echo "$pattern"
    done
}
complain "writable globals that scripts/globals.allow does not have" "$(unmatched "$globals")"
complain "scripts/globals.allow has globals that are not there any more" "$(unused)"

externals=$(nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }')
[ -n "$externals" ] || complain "no external symbols were found" "$static"
complain "external symbols without the prefix wb_" "$(echo "$externals" | grep -v '^wb_' || true)"

shown=$(nm -D --defined-only "$shared" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    LC_ALL=C sort)
headers=$(ls include/weighbridge.h include/weighbridge/*.h | grep -v -e /experimental.h -e /net.h)
declared=$(sed -n 's/^WB_API .*[ *]\(wb_[a-z0-9_]*\)(.*/\1/p' $headers | LC_ALL=C sort)
[ -n "$shown" ] || complain "no symbols are shown" "$shared"
if [ "$shown" != "$declared" ]; then
    complain "the shared library does not export exactly what the stable headers declare" \
        "$(printf '%s\n' "$shown" "$declared" | LC_ALL=C sort | uniq -u)"
fi
[ "$(cat $headers | grep -c '^WB_API')" -eq "$(echo "$declared" | wc -l)" ] ||
    complain "stable headers" "a WB_API declaration does not begin with WB_API, type and name in a line"

sockets='accept|bind|connect|curl_.*|getaddrinfo|gethostby.*|listen|recv(from|msg)?|send(to|msg)?|socket|socketpair'
complain "network functions in the library" "$(nm -u "$static" | awk 'NF == 2 { print $2 }' |
    sed 's/@.*//' | grep -xE "$sockets" | LC_ALL=C sort -u || true)"
complain "the network module in the library" "$(nm -g --defined-only "$static" |
    awk '$3 ~ /^wb__?net_/ { print $3 }')"

complain "needs more than libc and libm" "$(readelf -d "$shared" |
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|ld-linux.*)\.so' || true)"
net=$build/libweighbridge-net.so
if [ -e "$net" ]; then
    shown=$(nm -D --defined-only "$net" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort)
    declared=$(sed -n 's/^WB_API .*[ *]\(wb_[a-z0-9_]*\)(.*/\1/p' include/weighbridge/net.h | LC_ALL=C sort)
    [ -n "$shown" ] && [ "$shown" = "$declared" ] ||
        complain "libweighbridge-net does not export exactly what weighbridge/net.h declares" \
            "$(printf '%s\n' "$shown" "$declared" | LC_ALL=C sort | uniq -u)"
    complain "libweighbridge-net needs more than libc and libm" "$(readelf -d "$net" |
        sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libc|libm|ld-linux.*)\.so' || true)"
fi
exit $status
