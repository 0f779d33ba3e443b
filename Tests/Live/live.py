#!/usr/bin/env python3
"""Streams of GET /v1/live on a real broker: each banner once at its person's stream, however often streams and processes break.

  KAFKA_HOME=/path/to/kafka Tests/trial live                                   a small run with breaks and kills
  KAFKA_HOME=/path/to/kafka Tests/Live/live.py --streams 5000 --rate 100 --seconds 60        how long a banner takes
  KAFKA_HOME=/path/to/kafka Tests/Live/live.py --streams 15000 --rate 0 --seconds 20 --processes 1      what idle streams cost
  … --nginx /usr/sbin/nginx --chromium /usr/bin/chromium      all streams through nginx, four of them with a browser's EventSource
  … --ask 20      twenty times a second somebody changes a preference, and asks for it with GET /v1/me
  … --answers     people have a phone and a tablet, and phones answer the banners that they show: each message is on each device, its push at most once

Runs a broker, the FCM emulator, the three services and processes of `nudge-ingest --http-only`, and a client with a stream for each person. People have the app
open, and get messages at a rate. With --breaks N a second, streams are cut by the client, in the middle of events too, and opened again at another process
with Last-Event-ID; with --kills N the processes are killed in turn, with --joins N instances of the HTTP API, the analyzer and ingest come and go, so that
partitions move. The oracle knows only what was published: each message must come once, in the order of its
conversation, without a `reset`. Also hostile: half-open connections, and clients that do not read (--hostile). A browser's EventSource sends no token, so nginx
adds it for the browser's people: for this trial only.

Needs Python's cryptography for tokens. Exits with 1 where something is missing, comes twice, or is somebody else's.
"""

import argparse
import asyncio
import base64
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import threading
from concurrent.futures import ThreadPoolExecutor

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Night"))
from deployment import Deployment, Supervised, cpu_seconds, event, finish, free_ports, get, say, wait_for  # noqa: E402


class Tokens:
    """Signs users' tokens."""

    def __init__(self, file):
        self.key = ec.generate_private_key(ec.SECP256R1())
        file.write_bytes(self.key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo))

    def of(self, user, seconds=3600):
        def part(value):
            return base64.urlsafe_b64encode(value).rstrip(b"=")

        claims = {"sub": user, "iss": "live", "aud": "live", "exp": int(time.time()) + seconds}
        text = part(b'{"alg":"ES256"}') + b"." + part(json.dumps(claims).encode())
        r, s = decode_dss_signature(self.key.sign(text, ec.ECDSA(hashes.SHA256())))
        return (text + b"." + part(r.to_bytes(32, "big") + s.to_bytes(32, "big"))).decode()


class LiveDeployment(Deployment):
    def __init__(self, *arguments, processes):
        super().__init__(*arguments)
        ports = free_ports(2 * processes)
        self.live = list(zip(ports[:processes], ports[processes:]))
        self.tokens = Tokens(self.directory / "jwt.pem")
        self.more["ingest"] = ["--http-rate", "1000000"]

    def start_live(self, streams):
        self.streams = streams
        for number, (port, admin) in enumerate(self.live):
            self.start_http(f"http-{number}", port, admin)
        for port, admin in self.live:
            wait_for("an HTTP process", lambda: get(f"http://127.0.0.1:{admin}/readyz") is not None)

    def start_http(self, name, port, admin):
        self.services[name] = Supervised(
            name,
            [str(self.programs / "nudge-ingest"), "--http-only", "--http-address", f"127.0.0.1:{port}",
             "--admin-address", f"127.0.0.1:{admin}", "--state-dir", str(self.directory / "state" / name),
             "--api-keys-file", str(self.directory / "api-keys"), "--jwt-keys-file", str(self.directory / "jwt.pem"),
             "--jwt-issuer", "live", "--jwt-audience", "live", "--http-user-rate", "1000",
             "--live-streams", str(self.streams)],
            self.directory / f"{name}.log", self.environment)
        self.services[name].start()

    def join_or_leave(self, kind):
        """One more instance of a kind comes, or the one that came before goes."""
        name = f"{kind}-more"
        if name in self.services:
            say(f"{name} leaves")
            if kind == "http":
                self.live.pop()
            self.services.pop(name).stop()
            return
        say(f"{name} joins")
        port, admin = free_ports(2)
        if kind == "http":
            self.start_http(name, port, admin)
            wait_for(name, lambda: get(f"http://127.0.0.1:{admin}/readyz") is not None)
            self.live.append((port, admin))
            return
        # Without a name of its own: whoever leaves has its partitions taken over at once.
        self.services[name] = Supervised(
            name,
            [str(self.programs / f"nudge-{kind}"), "--admin-address", f"127.0.0.1:{admin}",
             "--state-dir", str(self.directory / "state" / name)],
            self.directory / f"{name}.log", self.environment)
        self.services[name].start()

    def start_nginx(self, program, browsers):
        """nginx in front of all processes, as docs/operations.md has it; and a page for browsers, whose tokens it adds."""
        self.nginx_port, self.page_port = free_ports(2)
        folder = self.directory / "nginx"
        folder.mkdir()
        text = (REPOSITORY / "Deploy/nginx.conf").read_text()
        servers = "\n".join(f"    server 127.0.0.1:{port} max_fails=0;" for port, _ in self.live)
        tokens = "".join(f'"{user}" "Bearer {self.tokens.of(user)}"; ' for user in browsers)
        page = f"location / {{ proxy_pass http://127.0.0.1:{self.page_port}; }}"
        for there, here in [
                # The decisions of a machine and its user.
                ("pid /tmp/nginx.pid;", f"pid {folder}/pid; daemon off;"), ("worker_processes auto;", "worker_processes 1;"),
                ("worker_rlimit_nofile 65536;", "worker_rlimit_nofile 20000;"), ("worker_connections 30000;", "worker_connections 19000;"),
                ("http {", "http {\n" + "".join(f"  {it}_temp_path {folder}/{it};\n" for it in
                                              ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])),
                ("    server http:8081;", servers), ("listen 8080 ", f"listen 127.0.0.1:{self.nginx_port} "),
                # The browsers' page and tokens: EventSource sends no header, so the device is named as its user.
                ("  server {", f"  map_hash_bucket_size 1024;\n  map $arg_deviceId $token {{ default $http_authorization; {tokens}}}\n  server {{\n    {page}"),
                ("      proxy_buffering off;", "      proxy_buffering off;\n      proxy_set_header Authorization $token;")]:
            if there not in text:
                raise RuntimeError(f"Deploy/nginx.conf has no '{there}'")
            text = text.replace(there, here, 1)
        (folder / "nginx.conf").write_text(text)
        self.services["nginx"] = Supervised(
            "nginx", [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")],
            self.directory / "nginx.log", self.environment)
        self.services["nginx"].start()
        self.live = [(self.nginx_port, None)]


PAGE = """<!doctype html><script>
const seen = [];
for (const user of USERS) {
  const source = new EventSource("/v1/live?deviceId=" + user);
  source.addEventListener("banner", (event) => {
    const banner = JSON.parse(event.data);
    seen.push([user, banner.messageId, banner.userId, Date.now()]);
  });
  source.addEventListener("reset", (event) => seen.push([user, "reset " + event.data, user, 0]));
  source.onopen = () => fetch("/open?" + user, { method: "POST" });
}
setInterval(() => seen.length && fetch("/seen", { method: "POST", body: JSON.stringify(seen.splice(0)) }), 500);
</script>"""


class Browser:
    """Chromium with a page whose EventSources are the streams of some people."""

    def __init__(self, run, program, users):
        self.run, self.users, self.opened, self.events = run, users, set(), {user: [] for user in users}
        browser = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                page = PAGE.replace("USERS", json.dumps(browser.users)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(page)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.path.startswith("/open?"):
                    browser.opened.add(self.path[6:])
                else:
                    for user, message, owner, at in json.loads(body):
                        browser.take(user, message, owner, at)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", run.deployment.page_port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             f"--user-data-dir={run.deployment.directory}/chromium", f"http://127.0.0.1:{run.deployment.nginx_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def take(self, user, message, owner, at):
        if owner != user:
            self.run.wrong.append(f"{user} got a banner of {owner} in the browser")
        self.events[user].append(message)
        if message in self.run.sent:
            self.run.browser_times.append(at / 1000 - self.run.sent[message])

    def judge(self):
        for user, events in self.events.items():
            expected = self.run.expected.get(user, [])
            if events != expected:
                self.run.wrong.append(f"{user} in the browser: {len(events)} of {len(expected)}, {len(set(events))} of them once")

    def stop(self):
        self.process.terminate()
        self.process.wait(10)
        self.server.shutdown()


class Pushes:
    """What FCM was sent: messages by device token."""

    def __init__(self, deployment):
        self.deployment, self.messages, self.missed, self.is_over = deployment, {}, 0, False
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        after = 0
        while not self.is_over:
            page = get(f"http://127.0.0.1:{self.deployment.emulator_page}/deliveries?after={after}", timeout=25)
            if page is None:
                time.sleep(0.2)
                continue
            batch = json.loads(page)
            after, self.missed = batch["next"], self.missed + batch["missed"]
            for delivery in batch["deliveries"]:
                message = delivery["request"]["message"]
                if message["data"].get("type") in ("new_message", "smart_notification"):
                    self.messages.setdefault(message["token"], []).append(message["data"]["messageId"])


class Client:
    """One person's stream."""

    def __init__(self, run, user):
        self.run, self.user, self.last = run, user, ""
        # Most apps answer; some have streams that say so and never do, as a frozen app; some do not say so.
        self.answers = run.random.choices(["each", "none", "undeclared"], [7, 2, 1])[0] if run.options.answers else "undeclared"
        self.answered = set()
        self.token = run.deployment.tokens.of(user)
        self.events = []
        self.resets = []
        self.opened = 0
        self.is_open = asyncio.Event()
        self.writer = None

    async def live(self):
        while not self.run.is_over:
            try:
                await self.stream()
            except (OSError, asyncio.IncompleteReadError, ValueError, IndexError):
                pass
            self.is_open.clear()
            if self.writer:
                self.writer.close()
            await asyncio.sleep(self.run.random.uniform(0.05, 0.5) if self.opened else self.run.random.uniform(0.5, 2))

    async def stream(self):
        port, _ = self.run.random.choice(self.run.deployment.live)
        source = f"127.0.0.{self.run.random.randrange(2, 100)}"
        reader, self.writer = await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0), limit=1 << 20), 30)
        last = f"Last-Event-ID: {self.last}\r\n" if self.last else ""
        self.writer.write(
            f"GET /v1/live?deviceId=d{'' if self.answers == 'undeclared' else '&answers=true'} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n{last}\r\n".encode())
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 30)
        if b" 200 " not in head.split(b"\r\n")[0]:
            self.run.refusals[head.split(b"\r\n")[0].decode()] = self.run.refusals.get(head.split(b"\r\n")[0].decode(), 0) + 1
            return
        self.opened += 1
        identity, name, data = self.last, "", []
        buffer = b""
        while True:
            size = int((await asyncio.wait_for(reader.readline(), 45)).strip() or b"x", 16)
            if size == 0:
                return
            buffer += await reader.readexactly(size)
            await reader.readexactly(2)
            *lines, buffer = buffer.split(b"\n")
            for line in lines:
                if not line:
                    self.last = identity
                    if data:
                        self.take(name, json.loads(b"\n".join(data)))
                    name, data = "", []
                    if self.last:
                        self.is_open.set()
                elif line.startswith(b"id: "):
                    identity = line[4:].decode()
                elif line.startswith(b"event: "):
                    name = line[7:].decode()
                elif line.startswith(b"data: "):
                    data.append(line[6:])

    def take(self, name, data):
        if name == "banner":
            self.events.append(data["messageId"])
            if data["userId"] != self.user:
                self.run.wrong.append(f"{self.user} got a banner of {data['userId']}")
            sent = self.run.sent.get(data["messageId"])
            if sent:
                self.run.times.append(time.time() - sent)
            if self.answers == "each" and "pushId" in data:
                self.run.threads.submit(self.answer, data)
        elif name == "reset":
            self.resets.append(data["reason"])


    def answer(self, banner):
        """The app has shown the banner, and says so until it is taken."""
        body = json.dumps(event(
            "notification.received", userId=self.user, deviceId="d", pushId=banner["pushId"], banner=True,
            conversationId=banner["conversationId"], messageId=banner["messageId"])).encode()
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not self.run.is_over:
            port, _ = self.run.random.choice(self.run.deployment.http)
            try:
                request = urllib.request.Request(
                    f"http://127.0.0.1:{port}/v1/events", method="POST", data=body,
                    headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
                with urllib.request.urlopen(request, timeout=10) as answer:
                    answer.read()
                self.answered.add(banner["messageId"])
                return
            except OSError as error:
                if getattr(error, "code", 503) not in (429, 503):
                    self.run.wrong.append(f"an answer of {self.user}: {error}")
                    return
                time.sleep(0.2)


class Run:
    def __init__(self, options, deployment):
        self.options, self.deployment = options, deployment
        self.random = random.Random(options.seed)
        self.sent, self.times, self.wrong, self.refusals = {}, [], [], {}
        self.expected = {}
        self.browser, self.browser_times = None, []
        self.asked, self.unanswered = [], 0
        self.is_over = False
        self.threads = ThreadPoolExecutor(16)
        self.pushes = None

    async def post(self, events):
        await asyncio.get_running_loop().run_in_executor(None, self.deployment.publish, events)

    async def activity(self, users):
        while not self.is_over:
            await self.post([event("user.activity", userId=user, deviceId="d", state="foreground") for user in users])
            # Reports count for two minutes, and a broker that is away holds one up.
            await asyncio.sleep(15)

    def ask(self, user, number):
        """A person changes a preference, and asks for it at another process. Returns whether each answer knew what was accepted before."""
        def call(method, path, body=None):
            port, _ = self.random.choice(self.deployment.http)
            request = urllib.request.Request(
                f"http://127.0.0.1:{port}{path}", method=method, data=body and json.dumps(body).encode(),
                headers={"Authorization": f"Bearer {self.deployment.tokens.of(user)}", "Content-Type": "application/json"})
            begin = time.monotonic()
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    person = json.loads(answer.read())
                self.asked.append(time.monotonic() - begin)
                if person["userId"] != user or person["preferences"]["burstSeconds"]["value"] != number:
                    self.wrong.append(f"{method} {path} of {user} does not know what was accepted before")
            except urllib.error.HTTPError as error:
                self.unanswered += 1
                if error.code != 503 or not error.headers["Retry-After"]:
                    self.wrong.append(f"{method} {path}: {error.code}")
                return False
            except OSError:
                # The process was killed while it was asked.
                self.unanswered += 1
                return False
            return True

        if call("PATCH", "/v1/me/preferences", {"burstSeconds": number}):
            call("GET", "/v1/me")

    async def asking(self):
        loop, number, due = asyncio.get_running_loop(), 0, time.monotonic()
        while not self.is_over:
            number, due = number + 1, due + 1 / self.options.ask
            loop.run_in_executor(None, self.ask, f"asker-{number}", number % 3000)
            await asyncio.sleep(max(0, due - time.monotonic()))

    async def hostile(self):
        """Connections that never become requests, and streams that nobody reads."""
        held = []
        port, _ = self.deployment.live[0]
        for number in range(self.options.hostile):
            try:
                source = f"127.0.1.{self.random.randrange(1, 250)}"
                _, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
                if number % 2:
                    writer.write(b"GET /v1/live HTTP/1.1\r\nHost: x\r\nAuthorization: Bea")
                held.append(writer)
            except OSError:
                pass
        return held

    async def main(self):
        options = self.options
        users = [f"user-{number}" for number in range(options.streams)]
        say(f"{len(users)} people")
        if options.rate:
            await self.post([
                event("conversation.updated", conversationId=f"c-{user}", kind="direct",
                      members=[{"userId": "sender", "displayName": "Sender"}, {"userId": user, "displayName": user}])
                for user in users])
        if options.answers:
            self.pushes = Pushes(self.deployment)
            await self.post([
                event("device.registered", userId=user, deviceId=device, token=f"{device}-{user}", platform="ios")
                for user in users for device in ("d", "tablet")])
        in_browser = users[:4] if options.chromium else []
        clients = [Client(self, user) for user in users[len(in_browser):]]
        self.deployment.http = list(self.deployment.live)
        if options.nginx:
            self.deployment.start_nginx(options.nginx, in_browser)
            await asyncio.sleep(1)
        if in_browser:
            self.browser = Browser(self, options.chromium, in_browser)
            while len(self.browser.opened) < len(in_browser):
                await asyncio.sleep(0.2)
            say(f"{len(in_browser)} EventSources are open")
        begin = time.monotonic()
        tasks = []
        for index, client in enumerate(clients):
            tasks.append(asyncio.create_task(client.live()))
            if index % 100 == 99:
                await asyncio.sleep(0.05)
        for client in clients:
            await asyncio.wait_for(client.is_open.wait(), 120)
        say(f"{len(clients)} streams are open after {time.monotonic() - begin:.1f} s")
        held = await self.hostile() if options.hostile else []
        if options.rate:
            tasks.append(asyncio.create_task(self.activity(users)))
            await asyncio.sleep(5)
        if options.ask:
            tasks.append(asyncio.create_task(self.asking()))
        processes = [self.deployment.services[f"http-{number}"] for number in range(options.processes)]
        before = [cpu_seconds(it.process.pid) for it in processes]
        # The processes to kill, one after the other, at even distances.
        faults = [f"http-{number % len(processes)}" for number in range(options.kills)]
        faults += ["kafka"] * options.broker_kills + ["analyzer", "ingest"] * options.stage_kills
        faults += [("analyzer", "http", "ingest")[number // 2 % 3] + "-more" for number in range(options.joins)]
        self.random.shuffle(faults)
        start, number, kills = time.monotonic(), 0, 0
        while time.monotonic() - start < options.seconds:
            await asyncio.sleep(0.1)
            now = time.monotonic() - start
            batch = []
            while number < now * options.rate:
                user = self.random.choice(users)
                message = f"m{number}"
                batch.append(event("message.created", conversationId=f"c-{user}", messageId=message, senderId="sender",
                                   text=f"Message {number}"))
                self.expected.setdefault(user, []).append(message)
                self.sent[message] = time.time()
                number += 1
            if batch:
                await self.post(batch)
            for _ in range(int(options.breaks / 10) + (self.random.random() < options.breaks / 10 % 1)):
                client = self.random.choice(clients)
                if client.writer:
                    client.writer.transport.abort()
            if kills < len(faults) and now > options.seconds * (kills + 1) / (len(faults) + 1):
                fault, kills = faults[kills], kills + 1
                if fault.endswith("-more"):
                    await asyncio.get_running_loop().run_in_executor(
                        None, self.deployment.join_or_leave, fault.removesuffix("-more"))
                else:
                    say(f"kills {fault}")
                    killed = self.deployment.kafka if fault == "kafka" else self.deployment.services[fault]
                    killed.signal(signal.SIGKILL)
        if not faults:
            for index, it in enumerate(processes):
                status = pathlib.Path(f"/proc/{it.process.pid}/status").read_text()
                memory = int(status.split("VmRSS:")[1].split()[0]) / 1024
                load = (cpu_seconds(it.process.pid) - before[index]) / options.seconds
                say(f"http-{index}: {memory:.0f} MiB resident, {load:.2f} cores")
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and any(
                len(client.events) < len(self.expected.get(client.user, [])) for client in clients):
            await asyncio.sleep(0.2)
        while self.pushes and time.monotonic() < deadline and self.missing_pushes(clients):
            await asyncio.sleep(0.2)
        await asyncio.sleep(3 if self.pushes else 1)
        self.is_over = True
        for task in tasks:
            task.cancel()
        for writer in held:
            writer.close()
        if self.browser:
            await asyncio.sleep(1)
            self.browser.stop()
            self.browser.judge()
        self.judge(clients, number)

    def missing_pushes(self, clients):
        """What a device has not got by any way: a tablet its pushes, a phone what it has not answered."""
        missing = []
        for client in clients:
            for message in self.expected.get(client.user, []):
                if message not in self.pushes.messages.get(f"tablet-{client.user}", []):
                    missing.append(f"{message} has no push to the tablet of {client.user}")
                if message not in client.answered and message not in self.pushes.messages.get(f"d-{client.user}", []):
                    missing.append(f"{message} has no push to the phone of {client.user} ({client.answers}), which did not answer")
        return missing

    def judge_pushes(self, clients):
        if self.pushes.missed:
            self.wrong.append(f"{self.pushes.missed} pushes were not looked at")
        self.wrong += self.missing_pushes(clients)
        for token, messages in self.pushes.messages.items():
            if len(messages) != len(set(messages)):
                self.wrong.append(f"{token} got {len(messages) - len(set(messages))} pushes twice")
        answered = [(client, message) for client in clients for message in client.answered]
        both = sum(message in self.pushes.messages.get(f"d-{client.user}", []) for client, message in answered)
        say(f"{len(answered)} banners answered, {both} of them pushed as well (their answers came too late)")
        if answered and both > len(answered) / 2:
            self.wrong.append("most answered banners were pushed as well")

    def judge(self, clients, number):
        if self.pushes:
            self.judge_pushes(clients)
        for client in clients:
            expected = self.expected.get(client.user, [])
            if client.events != expected:
                missing = [it for it in expected if it not in client.events]
                twice = len(client.events) - len(set(client.events))
                self.wrong.append(f"{client.user}: {len(missing)} missing, {twice} twice, of {len(expected)}"
                                  f"{'' if missing or twice else ', in another order'}; resets {client.resets}")
            elif client.resets:
                self.wrong.append(f"{client.user} got a reset: {client.resets}")
        opened = sum(client.opened for client in clients)
        say(f"{number} messages, {opened} streams opened, refusals {self.refusals or 'none'}")
        self.report("from the event to the banner", self.times)
        self.report("the same in Chromium", self.browser_times)
        self.report("an answer of GET /v1/me or PATCH", self.asked)
        if self.unanswered:
            say(f"{self.unanswered} questions were answered with 503, or their process was killed")

    def report(self, what, times):
        if times:
            times = sorted(times)
            say(f"{what}, {len(times)} times: median {statistics.median(times) * 1000:.0f} ms, "
                f"p99 {times[int(len(times) * 0.99)] * 1000:.0f} ms, longest {times[-1] * 1000:.0f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default=str(REPOSITORY / ".build/debug"))
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--rate", type=float, default=40, help="messages a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--processes", type=int, default=2, help="of nudge-ingest --http-only")
    parser.add_argument("--breaks", type=float, default=0, help="streams that the client cuts, a second")
    parser.add_argument("--kills", type=int, default=0, help="how often a process is killed")
    parser.add_argument("--broker-kills", type=int, default=0, help="how often the broker is killed")
    parser.add_argument("--stage-kills", type=int, default=0, help="how often ingest and the analyzer are killed, so that partitions move")
    parser.add_argument("--joins", type=int, default=0, help="how often an instance joins, or leaves again")
    parser.add_argument("--answers", action="store_true", help="people have devices, and phones answer the banners that they show")
    parser.add_argument("--ask", type=float, default=0, help="changes of preferences a second, each followed by a question")
    parser.add_argument("--nginx", help="the program; streams go through it")
    parser.add_argument("--chromium", help="the program; with --nginx, four people's streams are a page's EventSources")
    parser.add_argument("--hostile", type=int, default=0, help="half-open connections beside the streams")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true", help="keep logs and data")
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="nudge-live-"))
    deployment = LiveDeployment(os.environ["KAFKA_HOME"], options.programs, directory, processes=options.processes)
    say(f"seed {options.seed}")
    run = Run(options, deployment)
    try:
        deployment.start_kafka()
        deployment.start_emulator(record=False)
        deployment.start_services()
        deployment.start_live(options.streams + 100)
        asyncio.run(run.main())
    finally:
        undrained = deployment.stop()
    wrong = run.wrong + [it for it in undrained if not (options.kills or options.broker_kills or options.stage_kills or options.joins)]
    sys.exit(finish(directory, wrong[:20], options.keep))


if __name__ == "__main__":
    main()
