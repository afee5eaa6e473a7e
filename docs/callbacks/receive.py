"""Receives webhooks and verifies that they come from Platen. Needs only Python."""

import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["PLATEN_WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE = 5 * 60  # seconds


def is_genuine(headers, body):
    identifier, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    content = f"{identifier}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(KEY, content, hashlib.sha256).digest()).decode()
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected.encode(), signature.encode()) for signature in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        genuine = is_genuine(self.headers, body)
        self.send_response(204 if genuine else 400)
        self.end_headers()
        if genuine:
            # Do slow work in a queue of your own. The same webhook-id may arrive again.
            delivery = json.loads(body)
            print(self.headers["webhook-id"], delivery["status"], delivery.get("error", ""), flush=True)

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8000"))), Receiver)
print(f"listening on port {server.server_port}", flush=True)
server.serve_forever()
