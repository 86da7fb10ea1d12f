"""A receiver on http.server that verifies correctly, and gives no time limit to a body."""
import hashlib, hmac, json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

SECRET = sys.argv[1].encode()
LIMIT = 20000


class Receiver(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def do_POST(self):
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            return self.answer(400)
        if length < 0 or length > LIMIT:
            return self.answer(413)
        if self.headers.get("Content-Encoding", "identity").lower() != "identity":
            return self.answer(415)
        raw = self.rfile.read(length)
        given = self.headers.get("X-Service-Signature", "")
        expected = hmac.new(SECRET, raw, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(given.encode("latin-1"), expected.encode()):
            return self.answer(401)
        try:
            body = json.loads(raw.decode("utf-8"))
            reference = body.get("reference") if isinstance(body, dict) else None
        except (ValueError, RecursionError):
            return self.answer(400)
        if not isinstance(reference, str) or not reference.strip():
            return self.answer(400)
        self.answer(200)


server = HTTPServer(("127.0.0.1", 0), Receiver)
server.request_queue_size = 128
print(server.server_port, flush=True)
server.serve_forever()
