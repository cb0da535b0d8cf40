"""A server of counters, with a mistake: two clients that add at once may get the same count.

`--right` runs it without.
"""

import sys
import threading
import time
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

counters = {}
lock = threading.Lock() if "--right" in sys.argv else nullcontext()


def write(path, count):
    time.sleep(0.001)  # As long as a database takes.
    counters[path] = count


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # A response in one piece.

    def answer(self, status, body=""):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        count = counters.get(self.path)
        self.answer(404) if count is None else self.answer(200, str(count))

    def do_POST(self):
        with lock:
            count = counters.get(self.path, 0) + 1
            write(self.path, count)
        self.answer(200, str(count))

    def do_DELETE(self):
        with lock:
            count = counters.pop(self.path, None)
        self.answer(404 if count is None else 204)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
