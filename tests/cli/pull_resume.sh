# wb pull is killed at random points and run again. The server sends at most 1.1 times the bytes in total, and no file
# ever has a final name without its right bytes. Bytes that were damaged on the disk meanwhile are fetched again.
#
# Every second time the process is stopped before it is killed, so that the buffers of its connections fill: these bytes
# are lost. PULL_KILLS is the number of kills [4], PULL_MIB the size of the file [48], PULL_RATE the speed of each
# connection in bytes per second [8e6].
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p hub/o/m
MIB=${PULL_MIB:-48} KILLS=${PULL_KILLS:-4}
export MIB KILLS HUB
python3 -c 'import os, random; random.seed(7)
open("hub/o/m/big.safetensors", "wb").write(random.randbytes(int(os.environ["MIB"]) * 2**20 - 12345))'
start_hub hub
python3 - <<'P'
import glob, hashlib, json, os, random, shutil, signal, subprocess, time, urllib.request

HUB, SIZE = os.environ["HUB"], os.path.getsize("hub/o/m/big.safetensors")
DIGEST = hashlib.sha256(open("hub/o/m/big.safetensors", "rb").read()).hexdigest()
REPO = "hf-home/hub/models--o--m"
PULL = ["wb", "pull", "hf://o/m"]
RULES = [{"where": "cdn", "fault": "slow", "rate": float(os.environ.get("PULL_RATE", "8e6"))}]
random.seed(11)


def control(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    return json.load(urllib.request.urlopen(HUB + path, data))


def begin():
    shutil.rmtree("hf-home", ignore_errors=True)
    control("/_reset", {})
    control("/_rules", RULES)


def sent():
    return sum(e["sent"] for e in control("/_log") if e["where"] == "cdn")


def stored():
    """Return the blobs with final names, each of which must be right."""
    names = [n for n in glob.glob(REPO + "/blobs/*") if ".wb-" not in n]
    for name in names:
        assert hashlib.sha256(open(name, "rb").read()).hexdigest() == os.path.basename(name), name
    return names


def complete():
    out = subprocess.run(PULL, check=True, capture_output=True, text=True, timeout=120).stdout.strip()
    assert [os.path.basename(n) for n in os.listdir(REPO + "/blobs")] == [DIGEST]
    assert os.path.realpath(out + "/big.safetensors").endswith(DIGEST) and stored()


def kill_at(part, stop=False):
    process = subprocess.Popen(PULL, stdout=subprocess.DEVNULL)
    while process.poll() is None and sent() < part * SIZE:
        time.sleep(0.002)
    if stop and process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.5)
    process.kill()
    return process.wait() != 0


worst, kills = 0, 0
for i in range(int(os.environ["KILLS"])):
    begin()
    kills += kill_at(random.random() * 0.95, stop=i % 2 == 1)
    assert not stored() or os.path.exists(REPO + "/blobs/" + DIGEST)
    complete()
    worst = max(worst, sent() / SIZE)
print(f"{kills} kills: at most {worst:.3f} times the bytes")
assert kills > 0 and worst <= 1.1, worst

# Pieces that changed on the disk are fetched again, and so is all if the journal is damaged.
for damage in ("data", "journal", "short"):
    begin()
    assert kill_at(0.6)
    before = sent()
    data, journal = f"{REPO}/blobs/{DIGEST}.wb-partial", f"{REPO}/blobs/{DIGEST}.wb-pieces"
    if damage == "short":
        os.truncate(data, SIZE // 4)
    else:
        with open(data if damage == "data" else journal, "r+b") as f:
            f.seek(100 if damage == "journal" else 2**20 + 5)
            byte = f.read(1)[0]
            f.seek(-1, 1)
            f.write(bytes([byte ^ 1]))
    complete()
    assert sent() > before
P
