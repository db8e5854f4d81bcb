"""A model that says what a script has, one line after the other. It speaks OpenAI's chat, and ends with its input."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

script = json.loads(sys.argv[1])
turns = iter(enumerate(script))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        turn, said = next(turns, (0, {"text": "The script has no more."}))
        called = [
            {"id": f"call_{turn}_{place}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for place, (name, args) in enumerate(said.get("calls", []))
        ]
        message = {"role": "assistant", "content": said.get("text"), **({"tool_calls": called} if called else {})}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if called else "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        answer = {"id": f"chat-{turn}", "object": "chat.completion", "created": 1, "model": asked["model"]}
        body = json.dumps({**answer, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
sys.stdin.read()
