# The folder of the input file can be entered but not listed: only sidecar files with known names are copied, and a
# warning reports this.
if [ "$(id -u)" = 0 ]; then # to whom permissions say nothing, but for those who give up what makes it so
    run="setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search"
    $run true 2>/dev/null || { echo "skipped: nothing can be forbidden here"; exit 0; }
else
    run=
fi
cp -r "$DATA/twins/qwen2" model
chmod u+w model
echo stranger >model/other.txt
chmod 311 model
trap 'chmod 755 model' EXIT
$run ls model 2>/dev/null && { echo "skipped: nothing can be forbidden here"; exit 0; }
for to in safetensors mlx; do
    $run wb convert model/model.safetensors "$to" --to "$to" >answer 2>message
    [ -s "$to/config.json" ]
    [ -s "$to/tokenizer.json" ]
    [ ! -e "$to/other.txt" ]
    cat answer message | grep -q 'cannot be listed'
done
cmp model/tokenizer.json mlx/tokenizer.json
[ -z "$(find . -name '.wb*')" ]
# If the input is the folder itself, the command fails.
code=0
$run wb convert model all --to mlx 2>message || code=$?
[ "$code" = 5 ]
