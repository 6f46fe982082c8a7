# Output that cannot be written, closed pipes, and output to a terminal.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import zoo
zoo.main()
zoo.save("many.safetensors", [("layers.%d.weight" % i, "U8", [1], b"x") for i in range(20000)])
zoo.save("slow.safetensors", [("t", "F32", [1 << 21], bytes([1, 2, 3, 4]) * (1 << 21))])
zoo.save("big.safetensors", [("t", "U8", [1 << 22], bytes(1 << 22))])
P
code() {
    want=$1
    shift
    got=0
    "$@" >out 2>err || got=$?
    [ $got = "$want" ] || {
        echo "$*: code $got, expected $want"
        cat out err
        exit 1
    }
}
# If the reader closes the pipe, the command ends without a message and with the exit code reached so far.
for command in 'inspect many.safetensors' 'inspect --json many.safetensors' \
    'export big.safetensors t --format raw -o -' 'export big.safetensors t --format text -o -' 'help export'; do
    { got=0; wb $command 2>err || got=$?; echo $got >code; } | head -c 1 >/dev/null
    [ "$(cat code)" = 0 ] && [ ! -s err ] || { echo "$command: $(cat code err)"; exit 1; }
done
{ got=0; wb inspect stray many.safetensors 2>err || got=$?; echo $got >code; } | head -c 1 >/dev/null
[ "$(cat code)" = 1 ] && [ ! -s err ] || exit 1
# A full disk is an error.
for command in 'inspect one.safetensors' 'verify one.safetensors' 'help' '--version' \
    'export one.safetensors weight --format text -o -' 'export one.safetensors weight -o /dev/full'; do
    code 5 sh -c "wb $command >/dev/full"
    grep -q 'No space left' err
done
code 5 sh -c 'wb inspect one.safetensors >&-'
grep -q 'standard output' err
code 0 sh -c 'wb inspect one.safetensors 2>&- </dev/null'
code 2 sh -c 'wb inspect foreign/empty.safetensors 2>&-'

# On a terminal, output has colours unless they are disabled, and binary data is refused. Files never contain
# colours.
cat >terminal.py <<'P'
import os, pty, subprocess, sys
def tty(args, env={}):
    master, slave = pty.openpty()
    p = subprocess.Popen(["wb", *args], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                         env={**os.environ, "TERM": "xterm", **env})
    os.close(slave)
    data = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        data += piece
    return p.wait(), data
code, data = tty(["verify", "one.safetensors"])
assert code == 0 and b"\x1b[1;32msound\x1b[0m" in data, data
for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
    code, data = tty(["verify", "one.safetensors"], env)
    assert code == 0 and b"\x1b" not in data and b"sound" in data, data
code, data = tty(["verify", "one.safetensors"], {"NO_COLOR": ""})
assert b"\x1b" in data
code, data = tty(["inspect", "odd.safetensors"], {"NO_COLOR": "1"})
assert code == 0 and all(b >= 32 or b in b"\r\n" for b in data), data
assert b"\\x1b[31m" in data and "\u202e".encode() not in data
for form in ("npy", "raw"):
    code, data = tty(["export", "one.safetensors", "weight", "--format", form, "-o", "-"])
    assert code == 4 and b"terminal" in data, data
code, data = tty(["export", "one.safetensors", "u", "--format", "text", "-o", "-"])
assert code == 0 and b"4294967295" in data, data
# Long commands show a progress bar, which is erased at the end.
code, data = tty(["export", "slow.safetensors", "t", "-o", "slow.txt"])
assert code == 0 and b"\r[" in data and b"%" in data and data.endswith(b"\r\x1b[K"), data
P
python3 terminal.py
wb export slow.safetensors t -o slow.txt 2>err
[ ! -s err ]
wb verify one.safetensors >out
! grep -q "$(printf '\033')" out || exit 1

# A folder without write permission can be read, and is refused as an output.
mkdir locked
cp one.safetensors locked
chmod 555 locked
code 0 wb verify locked/one.safetensors
if [ "$(id -u)" != 0 ]; then
    code 5 wb export one.safetensors weight -o locked/out.npy
    chmod 000 locked/one.safetensors
    code 5 wb verify locked/one.safetensors
    grep -q 'Permission denied' err
fi
code 5 wb export one.safetensors weight -o /proc/out.npy
# An empty path is visible in the error message.
code 5 wb inspect ""
grep -q "^wb: '': cannot open" err
chmod 755 locked
