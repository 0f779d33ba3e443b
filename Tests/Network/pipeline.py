"""Brokers, FCM's emulator and the three services as processes, with messages that are published and their arrivals at FCM."""
import collections
import json
import os
import pathlib
import subprocess
import sys
import time

from hosts import run

SERVICES = ["ingest", "analyzer", "dispatcher"]


def cannot(reason):
    print(f"not run: {reason}")
    sys.exit(3)


class Pipeline:
    # Settings of every service.
    SETTINGS = []
    PEOPLE = 20
    PORT = 19_392

    def __init__(self, programs, kafka, folder, hosts, brokers=("broker",), instances=("",)):
        self.programs, self.folder, self.hosts, self.processes = programs, folder, hosts, {}
        self.tools = pathlib.Path(kafka) / "bin"
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("NUDGE_")},
                            "KAFKA_HEAP_OPTS": "-Xms256M -Xmx512M", "KAFKA_OPTS": os.environ.get("KAFKA_OPTS", "-XX:TieredStopAtLevel=1")}
        self.brokers, self.instances = list(brokers), instances
        self.bootstrap = ",".join(f"{hosts.name(it)}:{self.PORT}" for it in brokers)
        self.requests = folder / "requests.jsonl"
        self.published = {}

    def open(self):
        """Starts everything, and waits until the services are ready."""
        hosts, brokers = self.hosts, self.brokers
        cluster = run(str(self.tools / "kafka-storage.sh"), "random-uuid").split()[-1]
        for broker in brokers:
            settings = self.folder / f"{broker}.properties"
            settings.write_text(self.broker_settings(broker))
            run(str(self.tools / "kafka-storage.sh"), "format", "-t", cluster, "-c", str(settings))
            self.start_broker(broker)
        replicas = str(min(3, len(brokers)))
        self.wait("the brokers", lambda: subprocess.run(
            [*hosts.inside("client"), self.programs / "nudge", "topics", "create", "--bootstrap-servers", self.bootstrap, "--partitions", "4",
             "--replication-factor", replicas], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0)
        self.start("fcm", [*hosts.inside("fcm"), str(self.programs / "fcm-emulator"), "--listen", f"{hosts.address('fcm')}:0",
                           "--directory", str(self.folder), "--record", str(self.requests), "--delay", "20ms"])
        self.wait("the emulator", lambda: "serviceAccount" in self.log("fcm"))
        self.emulator = next(json.loads(line) for line in self.log("fcm").splitlines() if "serviceAccount" in line)
        self.fcm = self.emulator["url"].rsplit(":", 1)[1]
        names = [service + instance for service in SERVICES for instance in self.instances]
        for name in names:
            self.start_service(name)
        self.wait("the services", lambda: all('"message":"ready"' in self.log(name) for name in names))
        self.producers = {topic: self.producer(topic) for topic in ("chat.events", "user.events")}

    def broker_settings(self, broker):
        hosts, count = self.hosts, len(self.brokers)
        address, voters = hosts.address(broker), [f"{n}@{hosts.address(it)}:{self.PORT + 2}" for n, it in enumerate(self.brokers, 1)]
        return "\n".join([
            "process.roles=broker,controller", f"node.id={self.brokers.index(broker) + 1}",
            f"listeners=CLIENT://{address}:{self.PORT},BETWEEN://{address}:{self.PORT + 1},CONTROLLER://{address}:{self.PORT + 2}",
            f"advertised.listeners=CLIENT://{hosts.name(broker)}:{self.PORT},BETWEEN://{address}:{self.PORT + 1}",
            "listener.security.protocol.map=CLIENT:PLAINTEXT,BETWEEN:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name=BETWEEN", "controller.listener.names=CONTROLLER",
            f"controller.quorum.voters={','.join(voters)}", f"log.dirs={self.folder}/{broker}", "auto.create.topics.enable=false",
            "offsets.topic.num.partitions=4", "transaction.state.log.num.partitions=4", "group.initial.rebalance.delay.ms=0",
            *(f"{it}={min(3, count)}" for it in ("offsets.topic.replication.factor", "transaction.state.log.replication.factor",
                                                 "share.coordinator.state.topic.replication.factor")),
            *(f"{it}={min(2, count)}" for it in ("transaction.state.log.min.isr", "share.coordinator.state.topic.min.isr",
                                                 "min.insync.replicas"))]) + "\n"

    # Processes

    def start(self, name, command, environment=None):
        with open(self.folder / f"{name}.log", "ab") as log:
            self.processes[name] = subprocess.Popen(
                command, env=environment or self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)

    def start_broker(self, broker):
        self.start(broker, [*self.hosts.inside(broker), str(self.tools / "kafka-server-start.sh"),
                            str(self.folder / f"{broker}.properties")],
                   {**self.environment, "LOG_DIR": str(self.folder / f"{broker}-logs")})

    def start_service(self, name, programs=None, place=None, arguments=()):
        """Starts a service, whose name begins with what it is; `place` is its host and its folder of state."""
        service = next(it for it in SERVICES if name.startswith(it))
        extra = [] if service != "dispatcher" else [
            "--fcm-url", self.emulator["url"], "--fcm-credentials", self.emulator["serviceAccount"], "--fcm-ca-file",
            self.emulator["caFile"]]
        self.start(name, [*self.hosts.inside(place or name), str((programs or self.programs) / f"nudge-{service}"),
                          "--bootstrap-servers", self.bootstrap, "--state-dir", str(self.folder / "state" / (place or name)),
                          *self.SETTINGS, *arguments, *extra])

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def end(self):
        for process in reversed(self.processes.values()):
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()

    @staticmethod
    def wait(what, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"not within {seconds} s: {what}")
            time.sleep(0.1)

    # Messages

    def producer(self, topic):
        name = f"producer of {topic}"
        self.processes[name] = subprocess.Popen(
            [*self.hosts.inside("client"), str(self.tools / "kafka-console-producer.sh"), "--bootstrap-server", self.bootstrap, "--topic", topic,
             "--reader-property", "parse.key=true", "--reader-property", "key.separator=|", "--request-timeout-ms", "5000",
             "--message-send-max-retries", "1000000"],
            env={**self.environment, "LOG_DIR": str(self.folder)},
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=open(self.folder / f"{topic}.log", "wb"), text=True)
        return self.processes[name]

    def publish(self, topic, key, kind, number, fields):
        event = {"schemaVersion": 1, "type": kind, "eventId": f"{kind}-{number}", "occurredAt": int(time.time() * 1000)}
        producer = self.producers[topic]
        producer.stdin.write(f"{key}|{json.dumps({**event, **fields})}\n")
        producer.stdin.flush()

    def introduce(self):
        for number in range(self.PEOPLE):
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
                for person in range(self.PEOPLE):
                    self.write(f"w{number}-{person}", person)
            return len({message.rsplit("-")[-1] for message in self.arrivals()}) == self.PEOPLE

        self.wait("the first messages to be at FCM", arrives)

    def message(self):
        number = len(self.published)
        self.published[f"m{number}"] = time.time()
        self.write(f"m{number}", number % self.PEOPLE)

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
