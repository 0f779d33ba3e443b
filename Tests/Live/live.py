#!/usr/bin/env python3
"""Streams of GET /v1/live on a real broker: each banner once at its person's stream, however often streams and processes break.

  KAFKA_HOME=/path/to/kafka make live                                   a small run with breaks and kills
  KAFKA_HOME=/path/to/kafka Tests/Live/live.py --streams 5000 --rate 100 --seconds 60        how long a banner takes
  KAFKA_HOME=/path/to/kafka Tests/Live/live.py --streams 20000 --rate 0 --seconds 20         what idle streams cost

Runs a broker, the FCM emulator, the three services and processes of `nudge-ingest --http-only`, and a client with a stream for each person. People have the app
open, and get messages at a rate. With --breaks N a second, streams are cut by the client, in the middle of events too, and opened again at another process
with Last-Event-ID; with --kills N the processes are killed in turn. The oracle knows only what was published: each message must come once, in the order of its
conversation, without a `reset`. Also hostile: half-open connections, and clients that do not read (--hostile).

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
import sys
import tempfile
import time
import urllib.request
import uuid

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Night"))
from deployment import API_KEY, STAGES, Deployment, Supervised, cpu_seconds, finish, free_ports, get, say, wait_for  # noqa: E402


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
        for number, (port, admin) in enumerate(self.live):
            name = f"http-{number}"
            self.services[name] = Supervised(
                name,
                [str(self.programs / "nudge-ingest"), "--http-only", "--http-address", f"127.0.0.1:{port}",
                 "--admin-address", f"127.0.0.1:{admin}", "--state-dir", str(self.directory / "state" / name),
                 "--api-keys-file", str(self.directory / "api-keys"), "--jwt-keys-file", str(self.directory / "jwt.pem"),
                 "--jwt-issuer", "live", "--jwt-audience", "live", "--http-user-rate", "1000",
                 "--live-streams", str(streams)],
                self.directory / f"{name}.log", self.environment)
            self.services[name].start()
        for port, admin in self.live:
            wait_for("an HTTP process", lambda: get(f"http://127.0.0.1:{admin}/readyz") is not None)

    def publish(self, events):
        for start in range(0, len(events), 1000):
            request = urllib.request.Request(
                f"http://127.0.0.1:{self.http_port}/v1/events", method="POST",
                data=json.dumps(events[start:start + 1000]).encode(),
                headers={"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=30) as answer:
                answer.read()
                if answer.status != 202:
                    raise RuntimeError(f"{answer.status}")


def event(type_, **fields):
    return {"schemaVersion": 1, "type": type_, "eventId": str(uuid.uuid4()), "occurredAt": int(time.time() * 1000), **fields}


class Client:
    """One person's stream."""

    def __init__(self, run, user):
        self.run, self.user, self.last = run, user, ""
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
            f"GET /v1/live?deviceId=d HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token}\r\n{last}\r\n".encode())
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
        elif name == "reset":
            self.resets.append(data["reason"])


class Run:
    def __init__(self, options, deployment):
        self.options, self.deployment = options, deployment
        self.random = random.Random(options.seed)
        self.sent, self.times, self.wrong, self.refusals = {}, [], [], {}
        self.expected = {}
        self.is_over = False

    async def post(self, events):
        await asyncio.get_running_loop().run_in_executor(None, self.deployment.publish, events)

    async def activity(self, users):
        while not self.is_over:
            await self.post([event("user.activity", userId=user, deviceId="d", state="foreground") for user in users])
            await asyncio.sleep(50)

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
        clients = [Client(self, user) for user in users]
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
        processes = [self.deployment.services[f"http-{number}"] for number in range(options.processes)]
        before = [cpu_seconds(it.process.pid) for it in processes]
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
            if options.kills and kills < options.kills and now > options.seconds * (kills + 1) / (options.kills + 1):
                say(f"kills http-{kills % len(processes)}")
                processes[kills % len(processes)].signal(signal.SIGKILL)
                kills += 1
        if not options.kills:
            for index, it in enumerate(processes):
                status = pathlib.Path(f"/proc/{it.process.pid}/status").read_text()
                memory = int(status.split("VmRSS:")[1].split()[0]) / 1024
                load = (cpu_seconds(it.process.pid) - before[index]) / options.seconds
                say(f"http-{index}: {memory:.0f} MiB resident, {load:.2f} cores")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and any(
                len(client.events) < len(self.expected.get(client.user, [])) for client in clients):
            await asyncio.sleep(0.2)
        await asyncio.sleep(1)
        self.is_over = True
        for task in tasks:
            task.cancel()
        for writer in held:
            writer.close()
        self.judge(clients, number)

    def judge(self, clients, number):
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
        if self.times:
            times = sorted(self.times)
            say(f"from the event to the banner: median {statistics.median(times) * 1000:.0f} ms, "
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
    wrong = run.wrong + [it for it in undrained if not options.kills]
    sys.exit(finish(directory, wrong[:20], options.keep))


if __name__ == "__main__":
    main()
