#!/usr/bin/env python3
"""Deploy/pass-banners on a real broker, against stand-ins for Centrifugo and a Mercure hub: each record that is for an app once, in order, also where the
server fails for a while and where the program is killed.

  KAFKA_HOME=/path/to/kafka Tests/Live/recipes.py

The stand-ins answer as the servers' documentation says; no such server could be had where this was written. Needs confluent-kafka (PyPI).
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Night"))
from deployment import Deployment, Supervised, finish, say, wait_for  # noqa: E402


class StandIn:
    """Takes what a realtime server takes, fails for a while in the middle, and drops what has an id that it knows."""

    def __init__(self):
        self.taken, self.refused, self.wrong = [], 0, []
        standin = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = standin.take(self.path, self.headers, body)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        if path == "/api/publish":
            if headers["X-API-Key"] != "an-invented-key":
                self.wrong.append("no API key")
            it = json.loads(body)
            channel, record, known = it["channel"], it["data"], it["idempotency_key"]
            expected, answer = f"nudge:#{record['userId']}", b'{"result":{"offset":1}}'
        else:
            if headers["Authorization"] != "Bearer an.invented.token" or path != "/.well-known/mercure":
                self.wrong.append(f"{path} without its token")
            it = dict(urllib.parse.parse_qsl(body.decode(), strict_parsing=True))
            channel, record, known = it["topic"], json.loads(it["data"]), it["id"]
            expected, answer = "https://nudge.example/users/" + urllib.parse.quote(record["userId"], safe=""), known.encode()
            if it["private"] != "on" or it["type"] != record["type"]:
                self.wrong.append(f"{it}")
        if channel != expected:
            self.wrong.append(f"{channel} is not {expected}")
        if len(self.taken) >= 40 and self.refused < 3:
            self.refused += 1
            return (200, b'{"error":{"code":100,"message":"internal server error"}}') if path == "/api/publish" else (503, b"")
        if known not in [it[0] for it in self.taken]:
            self.taken.append((known, record))
        return 200, answer


def main():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="nudge-recipes-"))
    deployment = Deployment(os.environ["KAFKA_HOME"], os.environ.get("PROGRAMS", REPOSITORY / ".build/debug"), directory)
    wrong = []
    programs = []
    try:
        deployment.start_kafka()
        deployment.nudge("topics", "create", "--partitions", "4")
        for kind in ["centrifugo", "mercure"]:
            standin = StandIn()
            url = standin.url + ("/.well-known/mercure" if kind == "mercure" else "")
            environment = dict(os.environ, CENTRIFUGO_API_KEY="an-invented-key", MERCURE_JWT="an.invented.token")
            program = Supervised(
                kind, [sys.executable, str(REPOSITORY / "Deploy/pass-banners"), "--kafka", deployment.servers, "--group", kind,
                       f"--{kind}", url], directory / f"{kind}.log", environment)
            programs.append(program)
            program.start()

            def write(number, type_="banner"):
                user = ["ann", "b/ö n"][number % 2]
                record = {"schemaVersion": 1, "type": type_, "eventId": f"{kind}-{number}", "userId": user, "n": number}
                subprocess.run(["kcat", "-b", deployment.servers, "-t", "nudge.banners", "-P", "-k", user],
                               input=json.dumps(record).encode(), check=True)

            # The group begins at the end of the topic: its first record is one that it was there for.
            number = 0
            while not standin.taken:
                write(number)
                number += 1
                time.sleep(0.2)
            first = standin.taken[0][1]["n"]
            say(f"{kind}: the first of {number} records came")
            end = number + 100
            for number in range(number, end):
                write(number, ["banner", "badge", "read", "notice", "person.answered", "message.updated"][number % 6])
                if number == end - 50:
                    program.signal(signal.SIGKILL)
            expected = [n for n in range(first, end) if n < end - 100 or n % 6 != 4]
            wait_for("all records", lambda: len(standin.taken) >= len(expected), at_most=90)
            time.sleep(1)
            for user in ["ann", "b/ö n"]:
                got = [record["n"] for _, record in standin.taken if record["userId"] == user]
                if got != [n for n in expected if ["ann", "b/ö n"][n % 2] == user]:
                    wrong.append(f"{kind}: {user} got {got}")
            if standin.refused != 3:
                wrong.append(f"{kind}: the server's failures were not met")
            wrong += standin.wrong
            say(f"{kind}: {len(standin.taken)} records, each once and in order; {standin.refused} failures of the server, one kill")
    finally:
        for program in programs:
            program.stop()
        deployment.stop()
    sys.exit(finish(directory, wrong))


if __name__ == "__main__":
    main()
