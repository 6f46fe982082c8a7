#!/usr/bin/env python3
"""An object store on loopback, for tests: s3.py ROOT READY [SECONDS]

ROOT/BUCKET/KEY are the objects. GET of an object with Range, and ListObjectsV2 with prefix, delimiter and pages of two
entries. Every request must be presigned with AKIATEST and "secret" for the region test-1 (Signature Version 4, query
form); a signature is valid for SECONDS at most, if that is given. Objects of the bucket `public` need no signature.
READY is written once the port listens: the URL. The log of requests is READY.log: method, path, range, status.
"""
import calendar, hashlib, hmac, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

ROOT, READY = sys.argv[1], sys.argv[2]
SECONDS = float(sys.argv[3]) if len(sys.argv) > 3 else 1e9
KEY, SECRET, REGION = "AKIATEST", "secret", "test-1"


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def reply(self, status, body=b"", **fields):
        with open(READY + ".log", "a") as f:
            f.write(f"{self.command} {self.path.split('?')[0]} {self.headers.get('Range')} {status}\n")
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code):
        self.reply(status, f"<Error><Code>{code}</Code></Error>".encode(), Content_Type="application/xml")

    def signed(self, split):
        """AWS documentation, "Authenticating Requests: Using Query Parameters"."""
        pairs = parse_qsl(split.query, keep_blank_values=True)
        query = dict(pairs)
        if "X-Amz-Signature" not in query:
            return "AccessDenied"
        signature = query.pop("X-Amz-Signature")
        canonical = "&".join(sorted(quote(k, safe="-_.~") + "=" + quote(v, safe="-_.~")
                                    for k, v in pairs if k != "X-Amz-Signature"))
        day = query["X-Amz-Date"][:8]
        scope = f"{day}/{REGION}/s3/aws4_request"
        if query["X-Amz-Credential"] != f"{KEY}/{scope}":
            return "InvalidAccessKeyId"
        request = "\n".join(("GET", split.path, canonical, "host:" + self.headers["Host"] + "\n", "host",
                             "UNSIGNED-PAYLOAD"))
        text = "\n".join(("AWS4-HMAC-SHA256", query["X-Amz-Date"], scope, hashlib.sha256(request.encode()).hexdigest()))
        key = mac(mac(mac(mac(b"AWS4" + SECRET.encode(), day), REGION), "s3"), "aws4_request")
        if not hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), signature):
            return "SignatureDoesNotMatch"
        made = calendar.timegm(time.strptime(query["X-Amz-Date"], "%Y%m%dT%H%M%SZ"))
        return "AccessDenied" if time.time() - made > min(float(query["X-Amz-Expires"]), SECONDS) else None

    def list(self, bucket, query):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        top = os.path.join(ROOT, bucket)
        keys = sorted(os.path.relpath(os.path.join(d, f), top) for d, _, fs in os.walk(top) for f in fs)
        entries = {}
        for key in (k for k in keys if k.startswith(prefix)):
            rest = key[len(prefix):]
            if delimiter and delimiter in rest:
                entries[prefix + rest.split(delimiter)[0] + delimiter] = None
            else:
                entries[key] = os.path.getsize(os.path.join(top, key))
        start = int(query.get("continuation-token", "0/").split("/")[0])
        page = list(entries.items())[start:start + 2]
        body = "".join(f"<Contents><Key>{escape(k)}</Key><Size>{n}</Size></Contents>" for k, n in page if n is not None)
        body += "".join(f"<CommonPrefixes><Prefix>{escape(k)}</Prefix></CommonPrefixes>" for k, n in page if n is None)
        if start + 2 < len(entries):
            body += f"<NextContinuationToken>{start + 2}/&amp;=</NextContinuationToken>"
        self.reply(200, f"<ListBucketResult><Prefix>{escape(prefix)}</Prefix>{body}</ListBucketResult>".encode(),
                   Content_Type="application/xml")

    def do_GET(self):
        split = urlsplit(self.path)
        bucket, _, key = unquote(split.path).lstrip("/").partition("/")
        fault = None if bucket == "public" else self.signed(split)
        if fault:
            return self.refuse(403, fault)
        if not key:
            return self.list(bucket, dict(parse_qsl(split.query)))
        try:
            with open(os.path.join(ROOT, bucket, key), "rb") as f:
                data = f.read()
        except OSError:
            return self.refuse(404, "NoSuchKey")
        etag = '"%s"' % hashlib.md5(data).hexdigest()
        wanted = self.headers.get("Range")
        if not wanted:
            return self.reply(200, data, ETag=etag)
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        first, last = int(first), min(int(last), len(data) - 1)
        if first > last:
            return self.reply(416, Content_Range=f"bytes */{len(data)}")
        self.reply(206, data[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(data)}", ETag=etag)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(READY + ".new", "w") as f:
    f.write(f"http://127.0.0.1:{server.server_address[1]}\n")
os.rename(READY + ".new", READY)
server.serve_forever()
