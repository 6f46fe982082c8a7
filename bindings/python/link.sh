#!/bin/sh
# Links the Python files of the package into the build directory: link.sh SOURCE TARGET.
set -eu
find "$2" -type l -exec rm {} +
cd "$1"
find . \( -name '*.py' -o -name '*.pyi' -o -name py.typed \) | while read -r file; do
    mkdir -p "$2/$(dirname "$file")"
    ln -s "$1/$file" "$2/$file"
done
