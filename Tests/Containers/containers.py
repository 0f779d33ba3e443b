#!/usr/bin/env python3
"""Runs docker-compose.yml as it is with podman, and sends messages through it while containers are scaled, killed, cut off and replaced.

  KAFKA_HOME=/path/to/kafka Tests/Containers/containers.py .build/release

There is no registry, so two images are made here. `nudge` is what `Deploy/try-image` has built, where it has; otherwise a stand-in: this machine's Debian by
debootstrap, the programs of the folder, and the settings of the Dockerfile's last stage. `apache/kafka` is that Debian with a Java, the Kafka
of KAFKA_HOME, and an entry point that takes the same environment. Afterwards each message must have been at FCM once. Needs root, podman,
runc, debootstrap and podman-compose (`make tools`). Exit code: 0 all is well or it cannot run here, which it says; 1 something is not.
"""
import argparse
import hashlib
import ipaddress
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from kube import play

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "Tests/Night"))
from deployment import NightError, event, say, wait_for  # noqa: E402

PROGRAMS = ["nudge", "nudge-ingest", "nudge-analyzer", "nudge-dispatcher", "fcm-emulator"]
KAFKA_IMAGE = "docker.io/apache/kafka:4.3.1"
NUDGE_IMAGE = "localhost/nudge:latest"
MIRROR = "http://deb.debian.org/debian"
PROJECT = "nudge-containers"
HTTP = "http://127.0.0.1:8081/v1/events"

# KAFKA_A_B=v becomes a.b=v, as in Apache's image; `__` stands for `_`, and `___` for `-`.
KAFKA_START = r"""#!/bin/bash
set -e
properties=/tmp/container.properties
: > $properties
while IFS='=' read -r -d '' name value; do
  case $name in
    KAFKA_HOME | KAFKA_OPTS | KAFKA_HEAP_OPTS | KAFKA_JVM_PERFORMANCE_OPTS | KAFKA_GC_LOG_OPTS | KAFKA_LOG4J_OPTS) continue ;;
    KAFKA_*) key=${name#KAFKA_} ;;
    *) continue ;;
  esac
  key=$(printf %s "$key" | tr A-Z a-z | sed -e 's/___/\x01/g' -e 's/__/\x02/g' -e 's/_/./g' -e 's/\x01/-/g' -e 's/\x02/_/g')
  printf '%s=%s\n' "$key" "$value" >> $properties
done < /proc/self/environ
/opt/kafka/bin/kafka-storage.sh format --ignore-formatted -t "${CLUSTER_ID:-5L6g3nShT-eMCtK--X86sw}" -c $properties
exec /opt/kafka/bin/kafka-server-start.sh $properties
"""

# A container's limits must not be above this machine's own, and its cgroups may be mixed.
CONTAINERS_CONF = """[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


def skip(reason):
    print(f"containers: skipped: {reason}")
    sys.exit(0)


class Engine:
    """podman with a storage and settings of its own, and podman-compose on it."""

    def __init__(self, storage, compose):
        self.compose_program = compose
        storage.mkdir(parents=True, exist_ok=True)
        (storage / "storage.conf").write_text(
            f'[storage]\ndriver = "overlay"\ngraphroot = "{storage}/graph"\nrunroot = "{storage}/run"\n')
        soft = {name: subprocess.run(["bash", "-c", f"ulimit -H {flag}"], capture_output=True, text=True).stdout.strip()
                for name, flag in [("files", "-n"), ("processes", "-u")]}
        limits = {name: min(16_384, int(it)) if it.isdigit() else 16_384 for name, it in soft.items()}
        (storage / "containers.conf").write_text(CONTAINERS_CONF.format(**limits))
        self.environment = dict(
            os.environ, CONTAINERS_STORAGE_CONF=str(storage / "storage.conf"), CONTAINERS_CONF=str(storage / "containers.conf"),
            BUILDAH_ISOLATION="chroot")

    def run(self, command, allow=(0,), **more):
        done = subprocess.run([str(it) for it in command], env=self.environment, capture_output=True, text=True, cwd=REPOSITORY, **more)
        if done.returncode not in allow:
            raise NightError(f"{' '.join(str(it) for it in command[:6])} … ended with {done.returncode}: {(done.stdout + done.stderr)[-2000:]}")
        return done

    def podman(self, *arguments, allow=(0,)):
        return self.run(["podman", *arguments], allow).stdout.strip()

    def compose(self, *arguments, allow=(0,)):
        return self.run([self.compose_program, "-p", PROJECT, "-f", REPOSITORY / "docker-compose.yml", *arguments], allow)

    def clean(self):
        """Removes the containers, also those of a larger scale, which podman-compose does not know any more, and what they had."""
        left = self.podman("ps", "-aq", "--filter", f"label=com.docker.compose.project={PROJECT}").split()
        if left:
            self.podman("rm", "--force", "--volumes", *left)
        self.compose("down", "--volumes", allow=tuple(range(256)))

    def has(self, image):
        return self.run(["podman", "image", "exists", image], allow=(0, 1)).returncode == 0


# Images


def libraries_of(programs):
    """The libraries that the programs load: those of Swift, which a static build has in itself, and the others."""
    found = set()
    for program in programs:
        text = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        found |= {pathlib.Path(it) for it in re.findall(r"=> (/\S+)", text)}
    swift = {it for it in found if "swift" in it.parts}
    return swift, found - swift


def packages_of(programs):
    """The packages that have the libraries of the programs, and those that the image has besides."""
    names = sorted(it.resolve().name for it in libraries_of(programs)[1])
    found = subprocess.run(["dpkg-query", "-S", *(f"*/{it}" for it in names)], capture_output=True, text=True).stdout
    return sorted({line.split(":")[0] for line in found.splitlines()}) + ["ca-certificates", "tzdata", "curl"]


def make_base(engine, scratch, programs):
    """This machine's Debian with what both images need. Its name says which packages: programs that load another library need another."""
    names = packages_of(programs) + ["openjdk-17-jre-headless"]
    image = "localhost/nudge-debian:" + hashlib.sha256(" ".join(names).encode()).hexdigest()[:12]
    if engine.has(image):
        return image
    release = dict(line.split("=", 1) for line in pathlib.Path("/etc/os-release").read_text().splitlines() if "=" in line)
    root = scratch / "debian"
    say(f"Debian {release['VERSION_CODENAME']} by debootstrap")
    engine.run(["debootstrap", "--variant=minbase", f"--include={','.join(names)}", release["VERSION_CODENAME"], root, MIRROR])
    for archive in (root / "var/cache/apt/archives").glob("*.deb"):
        archive.unlink()
    with open(root / "etc/passwd", "a") as users, open(root / "etc/group", "a") as groups:
        for name, number in [("nudge", 10001), ("appuser", 1000)]:
            users.write(f"{name}:x:{number}:{number}::/nonexistent:/usr/sbin/nologin\n")
            groups.write(f"{name}:x:{number}:\n")
    engine.run(["sh", "-c", f"tar -C {root} -c . | podman import - {image}"])
    shutil.rmtree(root)
    return image


def make_nudge(engine, scratch, programs, built, base):
    """The image that `Deploy/try-image` has built; otherwise its last stage, on the base and with these programs."""
    if built.is_dir():
        say("nudge: the image that Deploy/try-image has built")
        buildah = ["buildah", "--root", built / "root", "--runroot", built / "run"]
        engine.run([*buildah, "push", "nudge", f"docker-archive:{scratch}/nudge.tar:{NUDGE_IMAGE}"])
        engine.podman("load", "-i", str(scratch / "nudge.tar"))
        return
    say("nudge: a stand-in, of the programs that are built here and the settings of Deploy/Dockerfile (Deploy/try-image builds the real one)")
    folder = scratch / "nudge"
    (folder / "bin").mkdir(parents=True)
    for program in programs:
        subprocess.run(["strip", "--strip-debug", "-o", folder / "bin" / program.name, program], check=True)
    for library in libraries_of(programs)[0]:
        place = folder / "swift" / library.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    last = (REPOSITORY / "Deploy/Dockerfile").read_text().split("\nFROM ")[-1]
    settings = last[last.index("\nUSER "):]
    for place in ["var/lib/nudge", "var/lib/fcm-emulator"]:
        (folder / "state" / place).mkdir(parents=True)
    (folder / "Dockerfile").write_text(
        f"FROM {base}\nCOPY bin/ /usr/local/bin/\n" + ("COPY swift/ /\n" if (folder / "swift").exists() else "") +
        "COPY --chown=10001:10001 state/var/lib/nudge /var/lib/nudge\n"
        "COPY --chown=10001:10001 state/var/lib/fcm-emulator /var/lib/fcm-emulator\n" + settings)
    engine.podman("build", "--format", "docker", "--pull-never", "-t", NUDGE_IMAGE, str(folder))


def make_kafka(engine, scratch, kafka_home, base):
    if engine.has(KAFKA_IMAGE):
        return
    say(f"{KAFKA_IMAGE}: a stand-in, of {kafka_home}")
    folder = scratch / "kafka"
    folder.mkdir()
    shutil.copytree(kafka_home, folder / "kafka", ignore=shutil.ignore_patterns("logs", "site-docs"))
    (folder / "start").write_text(KAFKA_START)
    (folder / "start").chmod(0o755)
    (folder / "data").mkdir()
    (folder / "Dockerfile").write_text(
        f"FROM {base}\nCOPY --chown=1000:1000 kafka /opt/kafka\nCOPY start /start\n"
        "COPY --chown=1000:1000 data /var/lib/kafka/data\nUSER 1000\nENV KAFKA_HEAP_OPTS=-Xmx512m LOG_DIR=/tmp/kafka-logs\n"
        "VOLUME /var/lib/kafka/data\nEXPOSE 9092\nCMD [\"/start\"]\n")
    engine.podman("build", "--format", "docker", "--pull-never", "-t", KAFKA_IMAGE, str(folder))


# The run


class Composition:
    """The services of the compose file, started one after the other: podman-compose does not wait for health."""

    def __init__(self, engine, programs):
        self.engine, self.nudge = engine, programs / "nudge"
        self.sent = []

    def up(self, service, *more):
        self.engine.compose("up", "-d", "--no-deps", "--no-build", *more, service)

    def containers(self, service):
        return self.engine.podman(
            "ps", "-a", "--filter", f"label=com.docker.compose.project={PROJECT}",
            "--filter", f"label=com.docker.compose.service={service}", "--format", "{{.Names}}").split()

    def log(self, name):
        done = self.engine.run(["podman", "logs", "--tail", "20", name], allow=(0, 125))
        return done.stdout + done.stderr

    def wait_healthy(self, service, count=1, at_most=240):
        def healthy():
            names = self.containers(service)
            return len(names) == count and all(
                self.engine.run(["podman", "healthcheck", "run", it], allow=(0, 1, 125)).returncode == 0 for it in names)
        try:
            wait_for(f"{count} of {service} to be healthy", healthy, at_most=at_most, every=0.5)
        except NightError as error:
            raise NightError(f"{error}\n" + "\n".join(f"{it}: {self.log(it)}" for it in self.containers(service))) from error

    def finish(self, service):
        """A service that ends by itself."""
        self.up(service)
        name = self.containers(service)[0]
        if self.engine.podman("wait", name) != "0":
            raise NightError(f"{service} failed: {self.log(name)}")

    def start(self):
        self.up("kafka")
        self.wait_healthy("kafka")
        self.finish("topics")
        self.up("fcm-emulator")
        self.wait_healthy("fcm-emulator")
        self.finish("api-keys")
        for service in ["ingest", "http", "analyzer", "dispatcher"]:
            self.up(service)
        for service in ["ingest", "http", "analyzer", "dispatcher"]:
            self.wait_healthy(service)
        key = self.engine.podman("exec", self.containers("http")[0], "cut", "-d ", "-f2", "/etc/nudge/http/api-keys")
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, type, **fields):
        request = urllib.request.Request(HTTP, json.dumps(event(type, **fields)).encode(), self.headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            answer.read()

    def send(self, by="http"):
        """A message; returns its id."""
        message = f"m-{len(self.sent) + 1}"
        if by == "http":
            self.post("message.created", conversationId="lunch", messageId=message, senderId="ann", text="Bob, lunch?", mentions=["bob"])
        else:
            self.engine.run([self.nudge, "publish", "message", "--bootstrap-servers", "localhost:9092", "--from", "ann",
                             "--conversation", "lunch", "--text", "Bob, lunch?", "--message-id", message])
        self.sent.append(message)
        return message

    def at_fcm(self):
        """The messages of the requests that were answered with 200."""
        text = self.engine.podman("exec", self.containers("fcm-emulator")[0], "sh", "-c", "cat /var/lib/fcm-emulator/requests.jsonl || true")
        found = []
        for line in text.splitlines():
            request = json.loads(line)
            if request.get("status") == 200:
                found += sorted(set(re.findall(r'"(m-\d+)"', line.replace('\\"', '"'))))
        return found

    def expect(self, message, at_most=60):
        began = time.monotonic()
        wait_for(f"{message} to be at FCM", lambda: message in self.at_fcm(), at_most=at_most, every=0.5)
        return time.monotonic() - began

    def members(self, stage):
        """How many containers have a part of a stage's partitions."""
        text = self.engine.podman("exec", self.containers("kafka")[0], "/opt/kafka/bin/kafka-consumer-groups.sh", "--bootstrap-server",
                                  "localhost:9092", "--describe", "--group", f"nudge-{stage}", "--members")
        hosts = {line.split()[2] for line in text.splitlines()[1:] if len(line.split()) > 4 and line.split()[-1] != "0"}
        return len(hosts)

    def check_addresses(self):
        """The emulator's fixed address is none that the engine gives to others, or it could not come back after a restart."""
        network = f"{PROJECT}_nudge"
        subnet = json.loads(self.engine.podman("network", "inspect", network))[0]["subnets"][0]
        lease = subnet.get("lease_range", {})
        first, last = (ipaddress.ip_address(lease.get(f"{end}_ip") or default) for end, default in
                       [("start", ipaddress.ip_network(subnet["subnet"])[1]), ("end", ipaddress.ip_network(subnet["subnet"])[-1])])
        for name in self.engine.podman("ps", "--filter", f"network={network}", "--format", "{{.Names}}").split():
            found = json.loads(self.engine.podman("inspect", name))[0]["NetworkSettings"]["Networks"][network]["IPAddress"]
            if (first <= ipaddress.ip_address(found) <= last) == (name in self.containers("fcm-emulator")):
                raise NightError(f"{name} has the address {found}; the engine gives {first} to {last}")

    def kill(self, name):
        """As a crash: the process dies, and its container is started again."""
        os.kill(int(self.engine.podman("inspect", "--format", "{{.State.Pid}}", name)), 9)


def story(it, scratch):
    it.start()
    say("broker, topics, emulator, key, HTTP API and three services are healthy")
    it.post("device.registered", userId="bob", deviceId="bob-phone", token="token-of-bob", platform="android")
    it.post("conversation.updated", conversationId="lunch", kind="group", name="Lunch",
            members=[{"userId": "ann", "displayName": "Ann"}, {"userId": "bob", "displayName": "Bob"}])
    # A claim of a device takes two topics more than a message: one that is published right after it may be first.
    explain = ["explain", "--user", "bob", "--bootstrap-servers", "localhost:9092"]
    wait_for("bob's phone to be registered", lambda: "bob-phone" in it.engine.run([it.nudge, *explain], allow=(0, 1)).stdout, 30, 0.5)
    say(f"by HTTP: at FCM after {it.expect(it.send()):.1f} s")
    say(f"by Kafka, from the host: at FCM after {it.expect(it.send(by='kafka')):.1f} s")

    it.up("analyzer", "--no-recreate", "--scale", "analyzer=3")
    it.wait_healthy("analyzer", 3)
    wait_for("three analyzers to share the partitions", lambda: it.members("analyzer") == 3, at_most=60, every=1)
    it.check_addresses()
    say(f"three analyzers share the partitions: {it.expect(it.send()):.1f} s")

    for service in ["analyzer", "dispatcher", "ingest"]:
        name = it.containers(service)[-1]
        it.kill(name)
        message = it.send()
        say(f"{name} killed: {it.expect(message):.1f} s")
        it.wait_healthy(service, len(it.containers(service)))

    network = f"{PROJECT}_nudge"
    for service in ["dispatcher", "analyzer", "ingest"]:
        name = it.containers(service)[0]
        it.engine.podman("network", "disconnect", network, name)
        message = it.send()
        time.sleep(12)
        it.engine.podman("network", "connect", network, name)
        say(f"{name} disconnected for 12 s: {it.expect(message):.1f} s after its return")
        it.wait_healthy(service, len(it.containers(service)))

    for service in ["analyzer", "dispatcher"]:
        name = it.containers(service)[0]
        it.engine.podman("rm", "--force", "--volumes", name)
        message = it.send()
        it.up(service, *(["--no-recreate", "--scale", "analyzer=3"] if service == "analyzer" else []))
        say(f"{name} removed with its volume, and made again: {it.expect(message):.1f} s")
        it.wait_healthy(service, 3 if service == "analyzer" else 1)

    name = it.containers("fcm-emulator")[0]
    it.kill(name)
    it.wait_healthy("fcm-emulator")
    # It reads the emulator's certificate and account at start.
    it.engine.podman("restart", it.containers("dispatcher")[0])
    it.wait_healthy("dispatcher")
    say(f"the emulator killed, which comes back at its address: {it.expect(it.send()):.1f} s")

    play(it, network, NUDGE_IMAGE, scratch)

    found = [message for message in it.at_fcm() if message in it.sent]
    twice = sorted({it for it in found if found.count(it) > 1})
    missing = sorted(set(it.sent) - set(found))
    if twice or missing:
        raise NightError(f"sent twice: {twice}; missing: {missing}")
    say(f"each of {len(it.sent)} messages was at FCM once")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--storage", type=pathlib.Path, default=REPOSITORY / ".build-containers", help="where podman keeps images")
    parser.add_argument("--keep", action="store_true", help="leave the containers running")
    options = parser.parse_args()
    for program in ["podman", "runc", "debootstrap"]:
        if not shutil.which(program):
            skip(f"{program} is missing; run: apt-get install -y podman runc debootstrap netavark aardvark-dns")
    compose = next((it for it in [shutil.which("podman-compose"), REPOSITORY / ".build/python/bin/podman-compose"]
                    if it and pathlib.Path(it).exists()), None)
    if not compose:
        skip("podman-compose is missing; run: make tools")
    if os.geteuid() != 0:
        skip("it needs root, as bridges and debootstrap do")
    if not os.environ.get("KAFKA_HOME"):
        skip("KAFKA_HOME is not set")
    programs = options.programs.resolve()
    engine = Engine(options.storage.resolve(), compose)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="nudge-containers-"))
    status = 0
    try:
        executables = [programs / it for it in PROGRAMS]
        base = make_base(engine, scratch, executables)
        make_kafka(engine, scratch, os.environ["KAFKA_HOME"], base)
        make_nudge(engine, scratch, executables, REPOSITORY / ".build-image", base)
        engine.clean()
        story(Composition(engine, programs), scratch)
    except (NightError, subprocess.CalledProcessError, OSError) as error:
        say(f"WRONG: {error}")
        status = 1
    finally:
        if not options.keep:
            engine.clean()
        shutil.rmtree(scratch)
    return status


if __name__ == "__main__":
    sys.exit(main())
