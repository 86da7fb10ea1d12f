"""Sends each attack of attacks.json to a receiver, and says which answers do harm.

    python3 judge.py attacks.json http://localhost:8000/webhooks/payments

Give the receiver the `secret` of the file and an order with its `reference`. Exits with 1 if an
answer does harm. It writes to the socket itself, because HTTP clients repair what attackers send.
"""
import base64
import json
import socket
import sys
from urllib.parse import urlsplit


def answer(address, attack):
    """Returns the status class of the answer, or "none"."""
    body = base64.b64decode(attack["body"])
    headers = {**attack["headers"], "host": address.netloc, "content-length": str(len(body))}
    lines = ["POST %s HTTP/1.1" % (address.path or "/")]
    lines += ["%s: %s" % header for header in headers.items()] + ["connection: close", "", ""]
    with socket.create_connection((address.hostname, address.port or 80), timeout=20) as connection:
        try:
            connection.sendall("\r\n".join(lines).encode("latin-1") + body)
        except OSError:
            pass  # It may answer before it has read the body.
        try:
            line = connection.makefile("rb").readline().decode("latin-1")
        except OSError:
            line = ""
    return line[9] + "xx" if line.startswith("HTTP/1.") else "none"


with open(sys.argv[1], encoding="utf-8") as file:
    attacks = json.load(file)["attacks"]
harmful = 0
for attack in attacks:
    got = answer(urlsplit(sys.argv[2]), attack)
    if got not in attack["expected"]:
        harmful += 1
        print("%s: got %s. %s" % (attack["name"], got, attack["why"]))
print("%d attacks, %d answers do harm" % (len(attacks), harmful))
sys.exit(1 if harmful else 0)
