# The Python package builds as a source distribution, and that as a wheel. The wheel is small, and its libraries need
# only each other and libc. In a new environment, without a compiler and without any other package, it installs and passes a smoke
# test.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python=$(command -v python3)

fail() {
    echo "$*" >&2
    exit 1
}
quietly() {
    "$@" >"$scratch/log" 2>&1 || { tail -50 "$scratch/log" >&2; exit 1; }
}

"$python" -m venv "$scratch/build"
quietly "$scratch/build/bin/pip" install --disable-pip-version-check build==1.3.0
quietly env CMAKE_BUILD_PARALLEL_LEVEL="$(nproc)" "$scratch/build/bin/python" -m build --outdir "$scratch/dist" .
wheel=$(echo "$scratch"/dist/weighbridge-*-cp310-abi3-*.whl)
[ -f "$wheel" ] || fail "no wheel for cp310-abi3: $(ls "$scratch/dist")"
size=$(wc -c <"$wheel")
echo "the wheel has $size bytes"
[ "$size" -lt 2000000 ] || fail "a wheel of $size bytes is too large"

"$python" -m zipfile -e "$wheel" "$scratch/content"
for library in "$scratch"/content/weighbridge/*.so*; do
    for needed in $(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
        [ ! -f "$scratch/content/weighbridge/$needed" ] || continue
        case $needed in
        libc.so.* | libm.so.* | ld-linux* | libpthread.so.* | libdl.so.*) ;;
        *) fail "$(basename "$library") needs $needed" ;;
        esac
    done
done
! grep -rq "$scratch" "$scratch/content" || fail "the place of the build got into the wheel"

"$python" -m venv "$scratch/bare"
bare="env -i PATH=$scratch/bare/bin HOME=$scratch"
quietly $bare pip install --disable-pip-version-check --no-index "$wheel"
$bare python bindings/python/tests/smoke.py "$scratch"
