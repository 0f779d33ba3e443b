#!/usr/bin/env python3
"""Cuts services from their broker, and the dispatcher from FCM, in network namespaces, and holds what follows to the books.

  KAFKA_HOME=/opt/kafka Tests/Network/network.py .build/debug

One broker, and one of each service in a network namespace of its own. Messages are published all the time. Each fault is for one service:

  dead      packets of the connections of now vanish for ever; new connections work
  silence   all packets vanish, for some seconds
  inward    only those to the service vanish
  outward   only those from the service vanish
  refusal   connections are reset and refused, for some seconds
  fcm       as silence, between the dispatcher and FCM
  fcm-dead  as dead, between the dispatcher and FCM

Afterwards every message must have been at FCM once, and none later than --limit seconds after it was published, or after its fault
ended. Needs root, iproute2 and iptables. Exit code: 0 all is well, 1 something is not, 3 it cannot run here.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

SERVICES = ["ingest", "analyzer", "dispatcher"]
BROKER = "10.231.1.1"
# Where the broker listens: on the links to the hosts, too.
LISTENS = "0.0.0.0"
PORT = 19_392
CHAIN = "NUDGE-NETWORK"
PEOPLE = 20
RATE = 4

Fault = collections.namedtuple("Fault", "kind service begin end")


def cannot(reason):
    print(f"not run: {reason}")
    sys.exit(3)


def run(*command, check=True):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout.strip()}")
    return done.stdout


class Network:
    """Three hosts, each with a link to this one."""

    def __init__(self):
        self.remove()
        for number, name in enumerate(SERVICES, 1):
            run("ip", "netns", "add", f"nudge-{name}")
            run("ip", "link", "add", f"nudge{number}", "type", "veth", "peer", "name", "uplink", "netns", f"nudge-{name}")
            run("ip", "addr", "add", f"10.231.{number}.1/24", "dev", f"nudge{number}")
            run("ip", "link", "set", f"nudge{number}", "up")
            for command in (["addr", "add", f"10.231.{number}.2/24", "dev", "uplink"], ["link", "set", "uplink", "up"],
                            ["link", "set", "lo", "up"], ["route", "add", "default", "via", f"10.231.{number}.1"]):
                run("ip", "-n", f"nudge-{name}", *command)
        run("iptables", "-N", CHAIN)
        for chain in ("INPUT", "OUTPUT"):
            run("iptables", "-I", chain, "-j", CHAIN)

    def remove(self):
        for chain in ("INPUT", "OUTPUT"):
            run("iptables", "-D", chain, "-j", CHAIN, check=False)
        run("iptables", "-F", CHAIN, check=False)
        run("iptables", "-X", CHAIN, check=False)
        for number, name in enumerate(SERVICES, 1):
            run("ip", "netns", "del", f"nudge-{name}", check=False)
            run("ip", "link", "del", f"nudge{number}", check=False)

    @staticmethod
    def inside(service):
        return ["ip", "netns", "exec", f"nudge-{service}"]

    def ports(self, service, port):
        """The local ports of a host's connections to a port."""
        lines = run(*self.inside(service), "ss", "-Htn", "state", "established", f"( dport = :{port} )").splitlines()
        return [line.split()[2].rsplit(":", 1)[1] for line in lines]

    def rules(self, kind, service, fcm):
        """The rules of a fault: what each is added to, and the rule."""
        host = f"10.231.{SERVICES.index(service) + 1}.2"
        here = ["iptables", "-A", CHAIN, "-p", "tcp"]
        there = [*self.inside(service), "iptables", "-A", "OUTPUT", "-p", "tcp"]
        sent, received = [*here, "-s", host, "--dport", str(PORT)], [*here, "-d", host, "--sport", str(PORT)]
        if kind == "dead":
            return [rule for port in self.ports(service, PORT)
                    for rule in ([*sent, "--sport", port, "-j", "DROP"], [*received, "--dport", port, "-j", "DROP"])]
        if kind == "fcm-dead":
            return [rule for port in self.ports(service, fcm)
                    for rule in ([*there, "--dport", fcm, "--sport", port, "-j", "DROP"],
                                 [*there, "--sport", fcm, "--dport", port, "-j", "DROP"])]
        return {
            "silence": [[*sent, "-j", "DROP"], [*received, "-j", "DROP"]],
            "outward": [[*sent, "-j", "DROP"]],
            "inward": [[*received, "-j", "DROP"]],
            "refusal": [[*sent, "-j", "REJECT", "--reject-with", "tcp-reset"]],
            "fcm": [[*there, "--dport", fcm, "-j", "DROP"], [*there, "--sport", fcm, "-j", "DROP"]],
        }[kind]


class Pipeline:
    # Settings of every service.
    SETTINGS = []

    def __init__(self, programs, kafka, folder, network):
        self.programs, self.folder, self.network, self.processes = programs, folder, network, []
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("NUDGE_")},
                            "LOG_DIR": str(folder), "KAFKA_HEAP_OPTS": "-Xms256M -Xmx512M",
                            "KAFKA_OPTS": "-XX:TieredStopAtLevel=1"}
        settings = folder / "server.properties"
        settings.write_text("\n".join([
            "process.roles=broker,controller", "node.id=1",
            f"listeners=PLAINTEXT://{LISTENS}:{PORT},CONTROLLER://127.0.0.1:{PORT + 1}",
            f"advertised.listeners=PLAINTEXT://{BROKER}:{PORT}", "inter.broker.listener.name=PLAINTEXT",
            "controller.listener.names=CONTROLLER", f"controller.quorum.bootstrap.servers=127.0.0.1:{PORT + 1}",
            f"log.dirs={folder}/data", "auto.create.topics.enable=false", "offsets.topic.replication.factor=1",
            "offsets.topic.num.partitions=4", "transaction.state.log.replication.factor=1",
            "transaction.state.log.min.isr=1", "transaction.state.log.num.partitions=4",
            "share.coordinator.state.topic.replication.factor=1", "share.coordinator.state.topic.min.isr=1",
            "group.initial.rebalance.delay.ms=0"]) + "\n")
        tools = pathlib.Path(kafka) / "bin"
        cluster = run(str(tools / "kafka-storage.sh"), "random-uuid").split()[-1]
        run(str(tools / "kafka-storage.sh"), "format", "-t", cluster, "-c", str(settings), "--standalone")
        self.start("kafka", [str(tools / "kafka-server-start.sh"), str(settings)])
        self.wait("the broker", lambda: subprocess.run(
            [programs / "nudge", "topics", "create", "--bootstrap-servers", f"{BROKER}:{PORT}", "--partitions", "4",
             "--replication-factor", "1"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)
        self.requests = folder / "requests.jsonl"
        self.start("fcm", [*network.inside("dispatcher"), str(programs / "fcm-emulator"), "--directory", str(folder),
                           "--record", str(self.requests), "--delay", "20ms"])
        self.wait("the emulator", lambda: "serviceAccount" in self.log("fcm"))
        ready = next(json.loads(line) for line in self.log("fcm").splitlines() if "serviceAccount" in line)
        self.fcm = ready["url"].rsplit(":", 1)[1]
        for name in SERVICES:
            extra = [] if name != "dispatcher" else [
                "--fcm-url", ready["url"], "--fcm-credentials", ready["serviceAccount"], "--fcm-ca-file",
                ready["caFile"]]
            self.start(name, [*network.inside(name), str(programs / f"nudge-{name}"), "--bootstrap-servers",
                              f"{BROKER}:{PORT}", "--state-dir", str(folder / name), *self.SETTINGS, *extra])
        self.wait("the services", lambda: all('"message":"ready"' in self.log(name) for name in SERVICES))
        self.producers = {topic: subprocess.Popen(
            [str(tools / "kafka-console-producer.sh"), "--bootstrap-server", f"{BROKER}:{PORT}", "--topic", topic,
             "--reader-property", "parse.key=true", "--reader-property", "key.separator=|"], env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
            for topic in ("chat.events", "user.events")}
        self.processes += self.producers.values()
        self.published = {}

    def start(self, name, command):
        self.processes.append(subprocess.Popen(
            command, env=self.environment, stdin=subprocess.DEVNULL, stdout=open(self.folder / f"{name}.log", "wb"),
            stderr=subprocess.STDOUT))

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    @staticmethod
    def wait(what, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"not within {seconds} s: {what}")
            time.sleep(0.1)

    def publish(self, topic, key, kind, number, fields):
        event = {"schemaVersion": 1, "type": kind, "eventId": f"{kind}-{number}", "occurredAt": int(time.time() * 1000)}
        producer = self.producers[topic]
        producer.stdin.write(f"{key}|{json.dumps({**event, **fields})}\n")
        producer.stdin.flush()

    def introduce(self):
        for number in range(PEOPLE):
            self.publish("user.events", f"p{number}", "device.registered", number, {
                "userId": f"p{number}", "deviceId": f"d{number}", "token": f"token-{number}", "platform": "android"})
            self.publish("chat.events", f"c{number}", "conversation.updated", number, {
                "conversationId": f"c{number}", "kind": "direct", "members": [
                    {"userId": "ann", "displayName": "Ann"}, {"userId": f"p{number}", "displayName": f"P{number}"}]})

    def begin(self):
        """Introduces everybody, and writes to each until the first message is at FCM."""
        self.introduce()
        tries = iter(range(1_000_000))

        def arrives():
            number = next(tries)
            if number % 10 == 0:
                for person in range(PEOPLE):
                    self.write(f"w{number}-{person}", person)
            return len({message.rsplit("-")[-1] for message in self.arrivals()}) == PEOPLE

        self.wait("the first messages to be at FCM", arrives)

    def message(self):
        number = len(self.published)
        self.published[f"m{number}"] = time.time()
        self.write(f"m{number}", number % PEOPLE)

    def write(self, message, person):
        self.publish("chat.events", f"c{person}", "message.created", message, {
            "conversationId": f"c{person}", "messageId": message, "senderId": "ann", "text": "Are you there?"})

    def arrivals(self):
        """When each message was at FCM."""
        found = collections.defaultdict(list)
        if self.requests.exists():
            for line in self.requests.read_text().splitlines():
                request = json.loads(line) if line.endswith("}") else {}
                message = ((request.get("body") or {}).get("message") or {}).get("data", {}).get("messageId")
                if message and request.get("status") == 200:
                    found[message].append(request["time"] / 1000)
        return found

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lengths", default="2,9,20", help="seconds of the faults that end, drawn from these")
    parser.add_argument("--limit", type=float, default=12)
    parser.add_argument("--faults", default="", help="only these kinds, with commas")
    options = parser.parse_args()
    if os.geteuid() != 0:
        cannot("network namespaces need root")
    for tool in ("ip", "iptables", "ss"):
        if not shutil.which(tool):
            cannot(f"there is no {tool}: apt-get install iproute2 iptables")
    kafka = os.environ.get("KAFKA_HOME") or cannot("KAFKA_HOME is not set")
    kinds = [(kind, service) for service in SERVICES for kind in ("dead", "silence", "inward", "outward", "refusal")]
    kinds += [("fcm", "dispatcher"), ("fcm-dead", "dispatcher")]
    wanted = set(options.faults.split(",")) - {""}
    kinds = [it for it in kinds if not wanted or it[0] in wanted]
    draw = random.Random(options.seed)
    draw.shuffle(kinds)
    lengths = [float(text) for text in options.lengths.split(",")]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nudge-network-"))
    network, pipeline, faults, wrong = Network(), None, [], []
    try:
        pipeline = Pipeline(options.programs.resolve(), kafka, folder, network)
        pipeline.begin()

        def go_on(seconds):
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                pipeline.message()
                time.sleep(1 / RATE)

        go_on(5)
        for kind, service in kinds:
            added, begin = network.rules(kind, service, pipeline.fcm), time.time()
            for rule in added:
                run(*rule)
            if not kind.endswith("dead"):
                go_on(draw.choice(lengths))
                for rule in added:
                    run(*["-D" if word == "-A" else word for word in rule])
                faults.append(Fault(kind, service, begin, time.time()))
            else:
                faults.append(Fault(kind, service, begin, begin))
            go_on(options.limit + 3)
        pipeline.wait("all messages to be at FCM", lambda: set(pipeline.arrivals()) >= set(pipeline.published), 60)
    except RuntimeError as error:
        wrong.append(str(error))
    finally:
        if pipeline:
            pipeline.end()
        network.remove()
    arrivals = pipeline.arrivals() if pipeline else {}
    published = pipeline.published if pipeline else {}
    for message, at in published.items():
        if len(arrivals.get(message, [])) != 1:
            wrong.append(f"{message} was at FCM {len(arrivals.get(message, []))} times")
    pauses = collections.defaultdict(float)
    for message, at in published.items():
        for arrival in arrivals.get(message, [])[:1]:
            # It counts for the last fault that it met, from that one's end on.
            met = [fault for fault in faults if fault.begin <= arrival and fault.end + options.limit >= at]
            if met:
                pauses[met[-1]] = max(pauses[met[-1]], arrival - max(at, met[-1].end))
    for fault in faults:
        pause = pauses[fault]
        print(f"{fault.kind:9} {fault.service:10} {fault.end - fault.begin:5.1f} s, the longest pause after it {pause:5.1f} s")
        if pause > options.limit:
            wrong.append(f"{fault.kind} of {fault.service}: {pause:.1f} s")
    print(f"{len(published)} messages, {len(faults)} faults (seed {options.seed})")
    for line in wrong[:20]:
        print(f"WRONG: {line}")
    if wrong:
        print(f"logs in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
