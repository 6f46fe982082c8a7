# Functions for tests that need servers on this machine. Source this file; it needs python3.
#
#   start_hub ROOT [OPTIONS]   starts tests/net/hub.py: sets HUB and CDN, exports HF_ENDPOINT and an empty HF_HOME
#   start_nginx FOLDER         starts nginx (Debian: nginx): sets WEB
#   start_s3 FOLDER [SECONDS]  starts tests/net/s3.py: sets S3, exports AWS_ENDPOINT_URL
#   hub_log                    prints the requests that the hub saw: where method path range status sent
#   web_log                    prints those of nginx: method path range status sent
#   rules JSON                 replaces the rules of the hub for faults; clears its log
#   has_network                fails if the command cannot load libcurl, as in the presets msan and m32
#
# All servers end with the test.
NET=$SOURCE/tests/net
servers=
stop_servers() {
    for pid in $servers; do kill "$pid" 2>/dev/null || true; done
}
trap stop_servers EXIT
# Proxies of this machine must not see the requests of the tests, nor may the user's token be used.
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY HF_TOKEN HF_TOKEN_PATH HF_HUB_CACHE \
    HUGGINGFACE_HUB_CACHE HUGGING_FACE_HUB_TOKEN HF_HUB_OFFLINE TRANSFORMERS_OFFLINE HF_ENDPOINT \
    AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_REGION AWS_DEFAULT_REGION AWS_ENDPOINT_URL_S3 \
    AWS_PROFILE
AWS_SHARED_CREDENTIALS_FILE=/nonexistent AWS_CONFIG_FILE=/nonexistent
export AWS_SHARED_CREDENTIALS_FILE AWS_CONFIG_FILE
no_proxy=* HF_HOME=$PWD/hf-home XDG_CACHE_HOME=$PWD/xdg-cache
export no_proxy HF_HOME XDG_CACHE_HOME

has_network() { # no server listens at this address
    ! wb inspect --retries 0 http://127.0.0.1:9/x 2>&1 | grep -q 'libcurl is not installed'
}
await() { # FILE: waits until a server has written it
    i=0
    while [ ! -s "$1" ]; do
        i=$((i + 1))
        [ $i -lt 300 ] || { echo "the server did not start: $1" >&2; exit 1; }
        sleep 0.05
    done
}
start_hub() {
    root=$1
    shift
    python3 "$NET/hub.py" --root "$root" --ready "$PWD/hub.ready" "$@" >hub.out 2>hub.err &
    servers="$servers $!"
    await hub.ready
    HUB=$(sed -n 1p hub.ready) CDN=$(sed -n 2p hub.ready) HF_ENDPOINT=$(sed -n 1p hub.ready)
    export HF_ENDPOINT
}
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
start_nginx() {
    PATH=$PATH:/usr/sbin command -v nginx >/dev/null || { echo "nginx is missing" >&2; exit 1; }
    port=$(free_port)
    mkdir -p nginx/logs
    cat >nginx/nginx.conf <<C
daemon off; worker_processes 1; pid nginx.pid; error_log logs/error.log;
events { worker_connections 256; }
http {
    log_format short '\$request_method \$request_uri \$http_range \$status \$body_bytes_sent';
    access_log logs/access.log short;
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
    sendfile on; keepalive_requests 10000; default_type application/octet-stream;
    server { listen 127.0.0.1:$port; root "$(realpath "$1")"; location /listed/ { autoindex on; } }
}
C
    PATH=$PATH:/usr/sbin nginx -p "$PWD/nginx" -c nginx.conf -e logs/error.log >nginx/out 2>&1 &
    servers="$servers $!"
    WEB=http://127.0.0.1:$port
    await nginx/nginx.pid
    : >nginx/logs/access.log
}
start_s3() {
    python3 "$NET/s3.py" "$1" "$PWD/s3.ready" ${2:-} >s3.out 2>s3.err &
    servers="$servers $!"
    await s3.ready
    S3=$(cat s3.ready) AWS_ENDPOINT_URL=$(cat s3.ready)
    export AWS_ENDPOINT_URL
}
control() { # PATH [BODY]
    python3 - "$HUB$1" "${2:-}" <<'P'
import sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], sys.argv[2].encode() or None).read().decode(), end="")
P
}
rules() {
    control /_reset >/dev/null
    control /_rules "$1" >/dev/null
}
hub_log() {
    control /_log | python3 -c 'import json, sys
for e in json.load(sys.stdin):
    print(e["where"], e["method"], e["path"], e["range"] or "-", e["status"], e["sent"])'
}
web_log() {
    cat nginx/logs/access.log
}
