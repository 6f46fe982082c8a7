# The help of a command does not mention other commands in the texts of its options, and a text that differs between
# commands is the right one in the help, the man page and the completion.
python3 -B - "$SOURCE" <<'P'
import pathlib, re, subprocess, sys
source = pathlib.Path(sys.argv[1])

def options(command):
    """Returns the option texts of the help of a command."""
    text = subprocess.run(["wb", "help", command], check=True, capture_output=True, text=True).stdout
    text = text.split("\nOptions\n")[1].split("\nExit codes\n")[0]
    entries = re.split(r"\n  (?=--)", "\n" + text)[1:]
    return {e.split()[0].strip(","): " ".join(e.split()) for e in entries}

overview = subprocess.run(["wb", "help"], check=True, capture_output=True, text=True).stdout
commands = [c for c in re.findall(r"^  ([a-z]+)  ", overview, re.M) if c != "help"]
assert "convert" in commands and "verify" in commands, commands
every = {c: options(c) for c in commands}
for command, texts in every.items():
    for option, text in texts.items():
        for other in commands + ["conversion", "conversions"]:
            if other == command or (command == "convert" and other.startswith("conversion")):
                continue
            assert not re.search(rf"(\bfor {other}\b|\b{other}: )", text), (command, text)

def pages(command):
    man = (source / f"docs/man/wb-{command}.1").read_text().replace("\\-", "-")
    zsh = (source / "cli/completion/_wb").read_text().split(f"\n        {command})\n")[1].split(";;")[0]
    fish = "\n".join(line for line in (source / "cli/completion/wb.fish").read_text().split("\n")
                     if re.search(rf"subcommand_from[^']* {command}\b", line))
    return man, zsh.replace("'\\''", "'").replace("\\:", ":"), fish.replace("\\'", "'")

for option, texts in {
    "--manifest": {"hash": "write the digests", "verify": "compare all bytes"},
    "--imatrix": {"convert": ".dat or GGUF", "codec": "one raw row"},
    "--json": {"list": "for each model", "inspect": "for each path", "edit": "print a JSON object; a failure"},
    "--store": {"list": "the Ollama store [", "convert": "--to ollama writes to it", "inspect": "a PATH that"},
    "--verbose": {"convert": "every tensor", "hash": "also print the time"},
    "--no-tensors": {"hash": "digests of single tensors", "inspect": "the table of tensors"},
}.items():
    for command, text in texts.items():
        assert text in every[command][option], every[command][option]
        for page in pages(command):
            assert text.split(" [")[0] in page.replace("\n", " "), (command, option, text)
        for other, different in texts.items():
            if other != command:
                for page in pages(command)[:2]:
                    assert different.split(" [")[0] not in page.replace("\n", " ").replace(text, ""), (command, different)
P
