# No text of a model adds a command to its Modelfile: read by the rules of Ollama (parser/parser.go), the commands are
# those that were written, and their texts those of the layers.
cat >check.py <<'P'
import json, os, random, subprocess, sys
sys.path.insert(0, os.environ["SOURCE"] + "/tests/cli")
import stores, zoo

def printable(c): # strconv.IsPrint of Go
    return c == " " or (c.isprintable() and not c.isspace())

def unquote(s):
    for mark in ('"""', '"'):
        if s.startswith(mark):
            return s[len(mark):-len(mark)] if len(s) >= 2 * len(mark) and s.endswith(mark) else None
    return s

def parse(text):
    commands, state, buffer, name, role = [], "nil", "", "", ""
    for c in text + "\n":
        end, space, keep = c in "\r\n", c in " \t", c
        following = state
        if state == "nil":
            following = "comment" if c == "#" else "nil" if end or space else "name"
            keep = c if following == "name" else ""
        elif state == "comment":
            following = "nil" if end else "comment"
            keep = ""
        elif state == "name":
            assert space or c.isalpha(), "an invalid command: " + buffer + c
            following = "value" if space else "name"
            keep = "" if space else c
        elif state in ("parameter", "message"):
            assert space or c.isalnum() or c == "_", "an invalid %s: %r" % (state, buffer + c)
            following = "value" if space else state
            keep = "" if space else c
        elif state == "value":
            following = "nil" if end or space else "value"
        if following != state:
            if state == "name":
                name = buffer.lower()
                assert name in ("from", "license", "template", "system", "adapter", "renderer", "parser", "parameter",
                                "message"), "an unknown command: " + name
                following = name if name in ("parameter", "message") else following
            elif state == "parameter":
                name = buffer
            elif state == "message":
                assert buffer in ("system", "user", "assistant"), "a wrong role: " + buffer
                role = buffer
            elif state == "value":
                value = unquote(buffer.strip())
                if value is None or space:
                    buffer += c
                    continue
                commands.append((name, role + ": " + value if role else value))
                role = ""
            buffer, state = "", following
        if keep and printable(keep):
            buffer += keep
    assert state in ("nil", "comment"), "an unfinished value"
    return commands

def plain(text): # without what Ollama drops, and without the spaces that are added between quotation marks
    kept = "".join(c for c in text if printable(c) or c in "\t\r\n")
    return kept.replace('" "', '""').replace('" "', '""')

random.seed(7)
parts = ['"', '""', '"""', "\n", "\r", "\n\n", " ", "\t", "FROM evil", "\nFROM evil\n", "SYSTEM x", "#", "a", "\u00e9", "\u200b",
         '"""\nFROM evil', '"""\rFROM evil\n', '"\u200b""\nFROM evil\n', '"""\u00a0\nFROM evil\n"""', "\\", "'"]
def some():
    return "x" * random.choice([0, 1]) + "".join(random.choice(parts) for _ in range(random.randint(1, 9))) + "x" * random.choice([0, 1])

os.makedirs("store/blobs")
zoo.save_gguf("w.gguf", [("general.architecture", 8, zoo.string("llama"))], [("output_norm.weight", 0, [4], zoo.floats(1, 2, 3, 4))])
weights = open("w.gguf", "rb").read()
for i in range(int(sys.argv[1])):
    texts = {kind: some() for kind in ("template", "system", "license")}
    params = {"stop": [some(), some()], some(): 1, "num_ctx": 5}
    messages = [{"role": "user", "content": some()}, {"role": "user x\nFROM evil\nMESSAGE user", "content": "a"}]
    layers = [stores.layer("model", weights)] + [stores.layer(k, t.encode()) for k, t in texts.items()]
    layers += [stores.layer("params", json.dumps(params).encode()), stores.layer("messages", json.dumps(messages).encode())]
    stores.manifest("m%d" % i, layers, {"model_format": "gguf", "renderer": some(), "parser": some()})
    shown = subprocess.run(["wb", "inspect", "--store", "store", "m%d" % i, "--modelfile"], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE).stdout.decode()
    got = parse(shown)
    assert [c for c in got if c[0] == "from"] == [c for c in got if c[0] == "from" and "/blobs/" in c[1]], shown
    assert sum(c[0] == "from" for c in got) == 1, shown
    for kind, text in texts.items():
        found = [plain(c[1]) for c in got if c[0] == kind]
        assert len(found) == 1 and (found[0] == plain(text) or found[0].strip() == plain(text).strip()), (kind, text, shown)
    assert [plain(c[1]).strip() for c in got if c[0] == "stop"] == [plain(t).strip() for t in params["stop"]], (params, shown)
    assert len([c for c in got if c[0] == "message"]) == 1, shown
P
python3 -B check.py 300
