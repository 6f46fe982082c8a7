# The commands in the console blocks of README.md and docs/coming-from.md print what the pages show. UPDATE=1
# changes the pages.
ln -s "$SOURCE/demo/tiny-pycode" tiny-pycode
for page in README.md docs/coming-from.md; do
    rm -rf place
    mkdir place
    cd place
    ln -s "$SOURCE/demo/tiny-pycode" tiny-pycode
    wb convert tiny-pycode tiny-mlx --to mlx --quant affine4:32 >/dev/null
    wb convert tiny-pycode tiny.gguf --quant Q4_K_M >/dev/null
    head -c 900000 tiny.gguf >download.gguf
    [ $page != README.md ] || rm tiny.gguf
    printf '{%% for m in messages %%}{{ m.content }}{%% endfor %%}' >chat.jinja
    HOME=$PWD python3 -B - "$SOURCE/$page" <<'P'
import difflib, os, re, subprocess, sys

def run(block):
    """Runs the commands of a block. Returns the block with what they print."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", block.group(2), re.M):
        p = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines += ["$ " + command] + p.stdout.splitlines()
    return block.group(1) + "\n".join(lines) + "\n" + block.group(3)

page = open(sys.argv[1]).read()
made, count = re.subn(r"(^```console\n)(.*?)(^```$)", run, page, flags=re.M | re.S)
assert count > 0
if os.environ.get("UPDATE"):
    open(sys.argv[1], "w").write(made)
elif page != made:
    sys.exit("\n".join(difflib.unified_diff(page.splitlines(), made.splitlines(), sys.argv[1], "actual", lineterm="")))
P
    cd ..
done
