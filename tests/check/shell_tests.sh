# A shell with -e ignores the status of "! COMMAND", and of each command of "A && B" but the last. In a test of the
# command, such a line must end with "|| exit 1" (or another consequence), or the test could not fail.
set -eu
cd "$(dirname "$0")/../.."
exec python3 -B - <<'P'
import glob, re, sys

def is_vacuous(line):
    first = r"\[|test|grep|cmp|diff|cat|wb"
    return (re.match(r"\s*! ", line) or re.match(rf"\s*({first}) .* && ", line)) and not re.search(
        r"\|\||;? (then|do)$|\\$|&& (echo|now=)", line)

assert is_vacuous("! grep a b") and is_vacuous("    [ -e a ] && cmp a b") and not is_vacuous("! grep a b || exit 1")
bad = [f"{path}:{i}: {line.strip()}" for path in sorted(glob.glob("tests/cli/*.sh") + glob.glob("tests/check/*.sh"))
       for i, line in enumerate(open(path), 1) if is_vacuous(line.rstrip("\n"))]
print("\n".join(bad))
sys.exit(bool(bad))
P
