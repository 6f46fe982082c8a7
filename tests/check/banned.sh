# No source file calls a banned function, and scripts/check_banned.sh reports a file that does.
set -eu
sh scripts/check_banned.sh

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/src/core" "$scratch/src/json"
cat >"$scratch/src/core/memory.c" <<'C'
/* malloc(1) in a comment, and "abort()" */
static const char *text = "sprintf(a, b)";
int f(struct s *p) { p->free(p); return malloc(1) != 0 && my_exit(0); }
C
sh scripts/check_banned.sh "$scratch"
for call in 'abort()' 'sprintf(a, "x")' 'malloc (1)' 'x = strtod(t, 0)' 'assert(x)'; do
    printf 'void f(void) { %s; }\n' "$call" >"$scratch/src/core/a.c"
    if sh scripts/check_banned.sh "$scratch" >/dev/null; then
        echo "not seen: $call" >&2
        exit 1
    fi
done
