# The crate needs a rustc newer than the one of Debian 12; rustc-web is new enough.
if ! command -v cargo >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get install -y cargo-web rustc-web
    else
        echo "cargo is missing; to install it: sudo apt-get install cargo-web rustc-web" >&2
        exit 1
    fi
fi
# Build in a copy, because cargo writes a lock file beside Cargo.toml.
cp -R Cargo.toml src "$OUT"
cd "$OUT"
cargo build --release --quiet
ln -s target/release/safetensors-rs run
