"""Writes tests/data/net/s3_presigned.tsv: URLs signed by botocore, the library of the AWS tools.

    pip install botocore && python3 tests/tools/make_s3.py >tests/data/net/s3_presigned.tsv

Columns: URL with its query, region, key, secret, token ("-": none), time, seconds of validity, signed URL.
"""
import datetime

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

NOW = datetime.datetime(2026, 8, 20, 12, 34, 56, tzinfo=datetime.timezone.utc)


class Clock(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return NOW.replace(tzinfo=None)

    @classmethod
    def now(cls, tz=None):
        return NOW if tz else NOW.replace(tzinfo=None)


botocore.auth.get_current_datetime = lambda *a, **k: NOW.replace(tzinfo=None)
datetime.datetime = Clock

KEY, SECRET = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
for url, region, token, seconds in (
    ("https://bucket.s3.us-east-1.amazonaws.com/model.safetensors", "us-east-1", None, 3600),
    ("https://bucket.s3.eu-central-1.amazonaws.com/a%20b/%C3%A9%2B%3D%26.gguf", "eu-central-1", None, 60),
    ("http://127.0.0.1:9000/bucket/dir/model-00001-of-00002.safetensors", "us-east-1", None, 3600),
    ("https://s3.us-west-2.amazonaws.com/my.bucket/x", "us-west-2", "FwoGZXIvYXdzE+/==tok", 900),
    ("https://bucket.s3.us-east-1.amazonaws.com/?delimiter=%2F&list-type=2&prefix=models%2Fllama%2F", "us-east-1",
     None, 3600),
    ("https://bucket.s3.us-east-1.amazonaws.com/?continuation-token=a%2Fb%3D&delimiter=%2F&list-type=2&prefix=",
     "us-east-1", "t", 3600),
    ("https://storage.googleapis.com/bucket/model.gguf", "auto", None, 3600),
):
    request = AWSRequest(method="GET", url=url)
    auth = botocore.auth.S3SigV4QueryAuth(Credentials(KEY, SECRET, token), "s3", region, expires=seconds)
    auth.add_auth(request)
    print("\t".join((url, region, KEY, SECRET, token or "-", str(int(NOW.timestamp())), str(seconds),
                     request.prepare().url)))
