# Models in an object store: signed addresses, listings in pages, credentials from the environment and from files.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p store/bucket/dir store/public
cp -r "$DATA/models/qwen3-4bit-3shards" "store/bucket/dir/a b"
cp "$DATA/models/qwen3-bf16/model.safetensors" store/public/m.safetensors
start_s3 store
same() { # PATH ADDRESS
    wb inspect --json "$1" | sed 's|store/|X/|g' >local.json
    wb inspect --json "$2" | sed 's|[gs][s3]://|X/|g' >remote.json
    cmp local.json remote.json
}
refuse() { # TEXT ADDRESS
    code=0
    wb inspect --retries 0 "$2" >out 2>err || code=$?
    [ $code = 5 ] && grep -q "$1" err || { cat out err >&2; exit 1; }
}
same store/public/m.safetensors s3://public/m.safetensors
refuse 'refuses access' "s3://bucket/dir/a b/config.json"

AWS_ACCESS_KEY_ID=AKIATEST AWS_SECRET_ACCESS_KEY=secret AWS_REGION=test-1
export AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION
same "store/bucket/dir/a b/" "s3://bucket/dir/a b/"
same "store/bucket/dir/a b/model-00002-of-00003.safetensors" "s3://bucket/dir/a b/model-00002-of-00003.safetensors"
same "store/bucket/dir/a b/" "gs://bucket/dir/a b/"
wb verify --deep "s3://bucket/dir/a b/" >/dev/null
wb convert "store/bucket/dir/a b" local.gguf --to gguf >/dev/null
wb convert "s3://bucket/dir/a b/" remote.gguf --to gguf >/dev/null
cmp local.gguf remote.gguf
refuse 'nothing at this address' "s3://bucket/dir/none.gguf"
AWS_SECRET_ACCESS_KEY=wrong refuse 'refuses access' "s3://bucket/dir/a b/config.json"

# a profile
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION
printf '[default]\naws_access_key_id = NO\naws_secret_access_key = no\n[other]\naws_access_key_id = AKIATEST\n' >credentials
printf 'aws_secret_access_key=secret\n' >>credentials
printf '[profile other]\nregion = test-1\n' >config
export AWS_SHARED_CREDENTIALS_FILE=$PWD/credentials AWS_CONFIG_FILE=$PWD/config
AWS_PROFILE=other same "store/bucket/dir/a b/" "s3://bucket/dir/a b/"
refuse 'refuses access' "s3://bucket/dir/a b/config.json"
AWS_ACCESS_KEY_ID=AKIATEST
export AWS_ACCESS_KEY_ID
code=0
wb inspect "s3://bucket/dir/a b/config.json" >out 2>err || code=$?
[ $code = 4 ]
grep -q AWS_SECRET_ACCESS_KEY err
