# golden
# .npy and .npz: inspect, verify, doctor and export, on files that NumPy wrote and on bad ones.
cd "$DATA/npy"
"$WB" inspect f4.swapped.npy
"$WB" verify stored.npz && echo "sound"
"$WB" export f4.npy array --format raw -o "$OLDPWD/expected"
for name in f4 f4.columns f4.swapped f4.both; do
    "$WB" export stored.npz $name --format raw -o "$OLDPWD/$name"
    cmp "$OLDPWD/expected" "$OLDPWD/$name" && echo "$name"
done
"$WB" export stored.npz f4.columns --slice '::-1, 1, 2:' --format text -o -
"$WB" inspect --json stored.npz | grep -o '"stored":\[[^]]*\]' | sort | uniq -c | sed 's/^ *//'
cd "$DATA/bad/npy"
for file in 2_npy-objects_at20_O.npy 2_npz-local-header_at0_name.npz 1_checksum_at163_bit_of_data.npz; do
    "$WB" doctor $file
    echo "exit $?"
done
