#!/bin/sh
# Builds the documentation site: build.sh PYTHON OUT, where PYTHON has the packages of requirements.txt and can import
# weighbridge. The site has the pages of docs/ and one page for each part of the Python package, whose text is made
# from docstrings. A warning, for example about a link to nothing, is an error.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
python=$1
out=$2
rm -rf "$out"
mkdir -p "$out/source"
(cd "$top" && cp -R --parents *.md LICENSE docs include examples cli/wb.schema.json bench/results.json \
    bench/bench.h scripts/law.txt "$out/source")
cp "$here"/conf.py "$here"/*.md "$out/source"
exec "$python" -m sphinx -q -W --keep-going -b html "$out/source" "$out/html"
