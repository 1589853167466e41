"""Makes a container in a storage emulator: container.py ENDPOINT NAME, with the key of AZURE_STORAGE_ACCOUNT_KEY."""

import base64
import email.utils
import hashlib
import hmac
import os
import sys
import urllib.parse
import urllib.request

endpoint, name = sys.argv[1:]
account = os.environ["AZURE_STORAGE_ACCOUNT_NAME"]
date, version = email.utils.formatdate(usegmt=True), "2021-08-06"
path = urllib.parse.urlsplit(endpoint).path
# The shared key signs method, empty headers, our own headers, and the resource after the account.
text = f"PUT{chr(10) * 12}x-ms-date:{date}\nx-ms-version:{version}\n/{account}{path}/{name}\nrestype:container"
key = base64.b64decode(os.environ["AZURE_STORAGE_ACCOUNT_KEY"])
signature = base64.b64encode(hmac.new(key, text.encode(), hashlib.sha256).digest()).decode()
headers = {"x-ms-date": date, "x-ms-version": version, "Authorization": f"SharedKey {account}:{signature}"}
request = urllib.request.Request(f"{endpoint}/{name}?restype=container", method="PUT", headers=headers)
with urllib.request.urlopen(request) as answer:
    assert answer.status == 201, answer.status
