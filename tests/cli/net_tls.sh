# TLS and HTTP/2: a server with a certificate that this test signs. Without SSL_CERT_FILE the certificate is refused; with
# it, models are read, downloaded and served by a hub behind nginx. A redirect from https to http is never followed.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
command -v openssl >/dev/null || exit 77
unset CURL_CA_BUNDLE REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE
mkdir -p web hub/o
cp -r "$DATA/models/qwen3-bf16" web/model
cp -r "$DATA/models/qwen3-bf16" hub/o/m
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2 \
    -subj /CN=localhost -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' 2>/dev/null
start_hub hub
start_nginx web
secure=$(free_port)
cat >tls.conf <<C
    server {
        listen 127.0.0.1:$secure ssl http2;
        ssl_certificate $PWD/cert.pem;
        ssl_certificate_key $PWD/key.pem;
        root "$PWD/web";
        location /away/ { return 302 $WEB/model/model.safetensors; }
        location /api/ { proxy_pass $HUB; }
        location /o/ { proxy_pass $HUB; proxy_redirect $CDN/ https://localhost:$secure/; }
        location /blob/ { proxy_pass $CDN; }
    }
C
sed -i "s|^    log_format short '|&\$server_protocol |" nginx/nginx.conf
python3 - <<'P'
text = open("nginx/nginx.conf").read()
at = text.rindex("}")
open("nginx/nginx.conf", "w").write(text[:at] + open("tls.conf").read() + text[at:])
P
kill -HUP "$(cat nginx/nginx.pid)"
TLS=https://localhost:$secure
i=0
until SSL_CERT_FILE=$PWD/cert.pem wb inspect "$TLS/model/model.safetensors" >out 2>err; do
    i=$((i + 1))
    [ $i -lt 40 ] || { cat err nginx/logs/error.log; exit 1; }
    sleep 0.2
done
refused() { # COMMAND...: exit code 5, because of the certificate
    code=0
    "$@" >out 2>err || code=$?
    [ $code = 5 ]
    grep -q 'certificate' err
}
refused wb inspect "$TLS/model/model.safetensors"
refused wb pull "$TLS/model/model.safetensors" --to a.safetensors
[ ! -e a.safetensors ]

SSL_CERT_FILE=$PWD/cert.pem
export SSL_CERT_FILE
wb pull "$TLS/model/model.safetensors" --to a.safetensors >out
cmp a.safetensors web/model/model.safetensors
code=0
wb inspect "$TLS/away/x.safetensors" >out 2>err || code=$?
[ $code = 5 ]
grep -q 'https to http' err

# The API of a hub is asked with HTTP/2, the contents with HTTP/1.1.
: >nginx/logs/access.log
HF_ENDPOINT=$TLS wb pull hf://o/m --to m >out
cmp m/model.safetensors web/model/model.safetensors
grep -q '^HTTP/2.0 GET /api/' nginx/logs/access.log || { cat nginx/logs/access.log; exit 1; }
HF_ENDPOINT=$TLS HF_TOKEN=hf_x wb push hf://o/m nginx/nginx.conf >out
cmp nginx/nginx.conf hub/o/m/nginx.conf
grep -q '^HTTP/2.0 POST /api/' nginx/logs/access.log
