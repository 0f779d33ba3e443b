"""A deployment as a supervisor would run it: Kafka, the FCM emulator, the three services, Prometheus with the repo's rules."""

import datetime
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
STAGES = ["ingest", "analyzer", "dispatcher"]
API_KEY = "a-key-of-the-night-that-nobody-else-has"
# The API key of a second producer.
OTHER_KEY = "a-key-of-an-import-that-nobody-else-has"


class NightError(Exception):
    """Something is not as the night needs it; the text is for people."""


def say(text):
    print(time.strftime("%H:%M:%S "), text, flush=True)


def wait_for(what, condition, at_most=60, every=0.2):
    """Waits until a condition holds, and returns what it returned; whoever waits in vain is told for what."""
    deadline = time.monotonic() + at_most
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise NightError(f"still waiting after {at_most} s for {what}")
        time.sleep(every)


def text(seconds):
    """A time as commands take it."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def event(type_, event_id=None, at=None, **fields):
    """An event as producers write it: of now, and with an id of its own, unless these are given."""
    return {"schemaVersion": 1, "type": type_, "eventId": event_id or str(uuid.uuid4()),
            "occurredAt": int(time.time() * 1000) if at is None else at, **fields}


def free_ports(count):
    """Ports that are free now, each another. Connections of this machine get theirs from 32768 on, so none takes a port whose program is
    down for a while."""
    sockets = []
    try:
        for _ in range(1_000):
            try:
                sockets.append(socket.create_server(("127.0.0.1", random.randrange(20_000, 32_000))))
            except OSError:
                continue
            if len(sockets) == count:
                return [it.getsockname()[1] for it in sockets]
        raise NightError("no free ports between 20000 and 32000 on 127.0.0.1")
    finally:
        for it in sockets:
            it.close()


def get(url, timeout=3):
    """A page, or None where there is none."""
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return answer.read().decode()
    except (OSError, urllib.error.URLError):
        return None


def cpu_seconds(pid):
    """User and system time of a process until now."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def finish(directory, wrong, keep=False):
    """Says what is wrong, and removes the directory of a good run. Returns the exit code."""
    for text in wrong:
        say(f"WRONG: {text}")
    if wrong or keep:
        say(f"logs and data are in {directory}")
    else:
        shutil.rmtree(directory, ignore_errors=True)
    return 1 if wrong else 0


class Supervised:
    """A program that is started again a second after it ends by itself, as any supervisor does."""

    def __init__(self, name, command, log, environment):
        self.name, self.command, self.log, self.environment = name, command, log, environment
        self.process = None
        self.wanted = False
        self.statuses = []
        self.thread = None

    def start(self):
        self.wanted = True
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while self.wanted:
            with open(self.log, "ab") as log:
                self.process = subprocess.Popen(self.command, stdout=log, stderr=log, env=self.environment)
            self.statuses.append(self.process.wait())
            if self.wanted:
                time.sleep(1)

    def signal(self, number):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)

    def stop(self, at_most=15):
        """SIGTERM, and the end of supervision; what does not end is killed."""
        self.wanted = False
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        self.thread and self.thread.join(at_most)
        if self.thread and self.thread.is_alive():
            self.signal(signal.SIGKILL)
            self.thread.join(10)


class Deployment:
    def __init__(self, kafka_home, programs, directory):
        self.kafka_home = pathlib.Path(kafka_home)
        self.programs = pathlib.Path(programs)
        self.directory = pathlib.Path(directory)
        for program in ["nudge", "fcm-emulator"] + [f"nudge-{stage}" for stage in STAGES]:
            if not os.access(self.programs / program, os.X_OK):
                raise NightError(f"{self.programs / program} is missing: swift build -c release builds it")
        if not os.access(self.kafka_home / "bin/kafka-server-start.sh", os.X_OK):
            raise NightError(f"KAFKA_HOME={kafka_home} is no Kafka distribution")
        if not shutil.which("kcat"):
            raise NightError("kcat is missing: make deps installs it")
        ports = free_ports(8)
        self.broker_port, self.controller_port, self.emulator_page, self.prometheus_port, self.http_port = ports[:5]
        self.admin_ports = dict(zip(STAGES, ports[5:]))
        self.servers = f"127.0.0.1:{self.broker_port}"
        # Nothing of whoever runs the night configures a program.
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("NUDGE_", "OTEL_", "GOOGLE_")) and name != "LD_PRELOAD"
        }
        self.environment["NUDGE_KAFKA_BOOTSTRAP_SERVERS"] = self.servers
        # A process that crashes ends its log with a backtrace.
        self.environment.setdefault(
            "SWIFT_BACKTRACE",
            "enable=yes,interactive=no,color=no,threads=crashed,registers=none,images=none,output-to=stderr")
        self.kafka = self.emulator = self.prometheus = None
        self.services = {}
        self.fcm = {}
        self.credentials = None
        self.more = {stage: [] for stage in STAGES}
        # The key that the chat's backend uses.
        self.api_key = API_KEY

    # Kafka

    def start_kafka(self):
        settings = self.directory / "server.properties"
        if not settings.exists():
            settings.write_text(
                f"""process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{self.broker_port},CONTROLLER://127.0.0.1:{self.controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{self.broker_port}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{self.controller_port}
log.dirs={self.directory}/kafka
auto.create.topics.enable=false
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
transaction.abort.timed.out.transaction.cleanup.interval.ms=1000
"""
            )
            self._kafka_tool("kafka-storage.sh", "format", "-t", "bmlnaHQtb2YtbnVkZ2UtMQ", "-c", settings, "--standalone")
        environment = dict(self.environment, LOG_DIR=str(self.directory / "kafka-logs"), KAFKA_HEAP_OPTS="-Xmx512m")
        self.kafka = Supervised(
            "kafka", [str(self.kafka_home / "bin/kafka-server-start.sh"), str(settings)],
            self.directory / "kafka.log", environment)
        self.kafka.start()
        wait_for("Kafka", self.is_kafka_up, at_most=90)

    def _kafka_tool(self, name, *arguments):
        done = subprocess.run(
            [str(self.kafka_home / "bin" / name)] + [str(it) for it in arguments], capture_output=True, text=True,
            env=dict(self.environment, LOG_DIR=str(self.directory / "kafka-logs")))
        if done.returncode:
            raise NightError(f"{name}: {done.stdout}{done.stderr}")

    def is_kafka_up(self):
        return subprocess.run(
            ["kcat", "-L", "-b", self.servers, "-m", "2"], capture_output=True, env=self.environment).returncode == 0

    # FCM

    def start_emulator(self, record=True):
        place = self.directory / "fcm"
        place.mkdir()
        self.requests = self.directory / "requests.jsonl"
        self.emulator = Supervised(
            "fcm-emulator",
            [str(self.programs / "fcm-emulator"), "--directory", str(place),
             "--admin-address", f"127.0.0.1:{self.emulator_page}", "--delay", "20ms"]
            + (["--record", str(self.requests)] if record else []),
            self.directory / "fcm-emulator.log", self.environment)
        self.emulator.start()

        def ready():
            for line in (self.directory / "fcm-emulator.log").read_text().splitlines() if self.emulator.log.exists() else []:
                if '"ready":true' in line:
                    return json.loads(line)
            return None

        self.fcm = wait_for("the emulator", ready)
        self.credentials = self.fcm["serviceAccount"]

    def set_faults(self, faults):
        """What goes wrong at FCM from now on; an empty list: nothing."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.emulator_page}/emulator/faults", data=json.dumps({"faults": faults}).encode(),
            method="POST")
        with urllib.request.urlopen(request, timeout=5) as answer:
            answer.read()

    # Services

    def start_services(self):
        self.set_api_keys({"night": API_KEY, "import": OTHER_KEY})
        self.nudge("topics", "create", "--partitions", "4")
        for stage in STAGES:
            self.start(stage)
        self.wait_until_ready()

    def set_api_keys(self, keys):
        """Replaces the file of API keys, as a secret's volume does: at once."""
        new = self.directory / "api-keys.new"
        new.write_text("".join(f"{name} {key}\n" for name, key in keys.items()))
        new.replace(self.directory / "api-keys")

    def publish(self, events, at_most=120, key=None):
        """Publishes events over HTTP until Kafka has them. Without an answer, or a valid key, they are sent again under the same ids, as a
        backend does; an event that is refused is an error."""
        for start in range(0, len(events), 1000):
            body = "".join(json.dumps(it) + "\n" for it in events[start:start + 1000]).encode()
            wait_for("Kafka to take events over HTTP", lambda: self._post(body, key or self.api_key), at_most, every=0.2)

    def _post(self, body, key):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.http_port}/v1/events", data=body, method="POST",
            headers={"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                if answer.status == 207:
                    raise NightError(f"some events were refused: {answer.read().decode()[:300]}")
                return answer.status in (200, 202)
        except urllib.error.HTTPError as error:
            if error.code in (401, 429, 503):
                return False
            raise NightError(f"events were refused: {error.code} {error.read().decode()[:300]}") from error
        except OSError:
            return False

    def state_directory(self, stage):
        return self.directory / "state" / stage

    def command(self, stage):
        command = [
            str(self.programs / f"nudge-{stage}"), "--admin-address", f"127.0.0.1:{self.admin_ports[stage]}",
            "--state-dir", str(self.state_directory(stage)), "--instance", f"{stage}-0",
        ]
        if stage == "ingest":
            command += ["--http-address", f"127.0.0.1:{self.http_port}", "--api-keys-file",
                        str(self.directory / "api-keys")]
        if stage == "dispatcher":
            command += ["--fcm-url", self.fcm["url"], "--fcm-ca-file", self.fcm["caFile"], "--fcm-credentials",
                        self.credentials]
        return command + self.more[stage]

    def start(self, stage):
        self.services[stage] = Supervised(
            f"nudge-{stage}", self.command(stage), self.directory / f"{stage}.log", self.environment)
        self.services[stage].start()

    def restart(self, stage, more=()):
        """SIGTERM, and a start with other settings beside the usual ones."""
        self.more[stage] = list(more)
        self.services[stage].stop()
        self.start(stage)

    def is_ready(self, stage):
        return get(f"http://127.0.0.1:{self.admin_ports[stage]}/readyz", timeout=1) is not None

    def not_ready(self, stage):
        """What /readyz says while it is not, or why it does not answer; empty where it is ready."""
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.admin_ports[stage]}/readyz", timeout=3).close()
            return ""
        except urllib.error.HTTPError as error:
            return error.read().decode()
        except OSError as error:
            return f"no answer: {error}"

    def wait_until_ready(self, at_most=90):
        for stage in STAGES:
            wait_for(f"{stage} to be ready ({self.directory / stage}.log)", lambda: self.is_ready(stage), at_most)

    def nudge(self, *arguments, allow=(0,)):
        """A command of the runbook. Returns what it printed."""
        done = subprocess.run(
            [str(self.programs / "nudge"), *arguments], capture_output=True, text=True, env=self.environment)
        if done.returncode not in allow:
            raise NightError(f"nudge {' '.join(arguments)} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def is_caught_up(self):
        """Whether no stage has a record that has waited for longer than ten seconds."""
        try:
            return self.nudge("lag", "--max-age", "10s") is not None
        except NightError:
            return False

    # Prometheus

    def start_prometheus(self):
        if not shutil.which("prometheus"):
            raise NightError("prometheus is missing: apt-get install prometheus")
        place = self.directory / "prometheus"
        place.mkdir()
        (place / "alerts.yml").write_text(shorten((REPOSITORY / "Deploy/prometheus/alerts.yml").read_text()))
        jobs = "".join(
            f"      - {{targets: ['127.0.0.1:{port}'], labels: {{stage: {stage}}}}}\n"
            for stage, port in self.admin_ports.items())
        (place / "prometheus.yml").write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [alerts.yml]\n"
            f"scrape_configs:\n  - job_name: nudge\n    static_configs:\n{jobs}")
        self.prometheus = Supervised(
            "prometheus",
            ["prometheus", f"--config.file={place}/prometheus.yml", f"--storage.tsdb.path={place}/tsdb",
             f"--web.listen-address=127.0.0.1:{self.prometheus_port}", "--log.level=warn"],
            self.directory / "prometheus.log", self.environment)
        self.prometheus.start()
        wait_for("Prometheus to scrape the three services", lambda: self.query("count(up == 1)") == 3.0)

    def query(self, expression):
        """The value of an expression's first series; None where there is none."""
        page = get(f"http://127.0.0.1:{self.prometheus_port}/api/v1/query?query={urllib.parse.quote(expression)}")
        result = json.loads(page)["data"]["result"] if page else []
        return float(result[0]["value"][1]) if result else None

    def has_judged_since(self, time):
        """Whether Prometheus has evaluated all rules after a time."""
        page = get(f"http://127.0.0.1:{self.prometheus_port}/api/v1/rules")
        groups = json.loads(page)["data"]["groups"] if page else []
        return bool(groups) and all(
            datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", it["lastEvaluation"]).replace("Z", "+00:00")).timestamp() > time
            for it in groups)

    def firing(self):
        """The names of the alerts that fire."""
        page = get(f"http://127.0.0.1:{self.prometheus_port}/api/v1/alerts")
        alerts = json.loads(page)["data"]["alerts"] if page else []
        return {it["labels"]["alertname"] for it in alerts if it["state"] == "firing"}

    # The end

    def stop(self):
        """Everything that runs, the services first. Returns the services that did not drain."""
        undrained = []
        for stage, service in self.services.items():
            service.stop()
            if not service.statuses or service.statuses[-1] != 0:
                undrained.append(f"nudge-{stage} ended with {service.statuses[-1:] or 'nothing'}")
        for it in [self.prometheus, self.emulator, self.kafka]:
            it and it.stop(at_most=30)
        return undrained


def shorten(rules):
    """The project's own rules with shorter waits: a minute of `for` is a second; ranges are a minute, an hour two."""
    rules = re.sub(r"for: (\d+)m", r"for: \1s", rules)
    rules = re.sub(r"offset \d+m", "offset 1m", rules)
    rules = re.sub(r"\[\d+m\]", "[1m]", rules)
    return re.sub(r"\[\d+h\]", "[2m]", rules)
