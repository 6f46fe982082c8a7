# The library of the npm package, which is built without -march. The script unpacks the package instead of
# installing it, because its installation needs a newer node than Debian 12 has.
package=@node-llama-cpp/linux-x64@3.22.1
for tool in npm cc tar; do
    command -v $tool >/dev/null || { echo "$tool is missing: npm, gcc and tar are needed" >&2; exit 1; }
done
cp ggml.c "$OUT"
cd "$OUT"
npm pack --silent $package >packed
tar xzf "$(tail -n 1 packed)" package/bins/linux-x64/libggml-base.so
mv package/bins/linux-x64/libggml-base.so .
rm -rf package ./*.tgz packed
cc -std=c11 -O2 -Wall -Wextra -pthread -o run ggml.c libggml-base.so -Wl,-rpath,'$ORIGIN'
