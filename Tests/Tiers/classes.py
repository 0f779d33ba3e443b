"""An archive of the classes of a Kafka distribution: brokers and tools that map it start in a part of the time."""
import hashlib
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

# As LocalBroker has it: the second compiler pays off only after minutes.
COMPILER = "-XX:TieredStopAtLevel=1"
SETTINGS = """process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{0},CONTROLLER://127.0.0.1:{1}
advertised.listeners=PLAINTEXT://127.0.0.1:{0}
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=127.0.0.1:{1}
log.dirs={2}/data
offsets.topic.replication.factor=1
"""


def free_port():
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]


def write_archive(home, archive):
    """Runs a broker for a moment, which writes the classes that it has loaded when it ends."""
    with tempfile.TemporaryDirectory(prefix="nudge-classes-") as name:
        folder = pathlib.Path(name)
        settings, log = folder / "server.properties", folder / "log"
        settings.write_text(SETTINGS.format(free_port(), free_port(), folder))
        environment = dict(os.environ, LOG_DIR=name, KAFKA_OPTS=COMPILER, KAFKA_HEAP_OPTS="-Xms256M -Xmx512M")
        subprocess.run([home / "bin/kafka-storage.sh", "format", "-t", "Y2xhc3Nlcy1vZi1rYWZrYQ", "-c", settings, "--standalone"],
                       env=environment, check=True, stdout=subprocess.DEVNULL, timeout=120)
        environment["KAFKA_OPTS"] += f" -XX:ArchiveClassesAtExit={archive}"
        with log.open("w") as output:
            broker = subprocess.Popen([home / "bin/kafka-server-start.sh", settings], env=environment, stdout=output, stderr=output)
        end = time.monotonic() + 120
        while "Kafka Server started" not in log.read_text() and broker.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        broker.terminate()
        broker.wait(120)


def kafka_options(home, folder):
    """Options of the JVM for brokers and tools of a distribution. The archive is in the folder, and is made where it is not yet."""
    libraries = sorted((it.name, it.stat().st_mtime_ns) for it in (home / "libs").glob("*.jar"))
    archive = folder / f"kafka-{hashlib.sha256(repr((str(home), libraries)).encode()).hexdigest()[:16]}.jsa"
    if not archive.exists():
        try:
            write_archive(home, archive)
        except (OSError, subprocess.SubprocessError) as error:
            print(f"no archive of Kafka's classes, brokers start slower: {error}", flush=True)
    # Where the archive does not fit this JVM, the classes come from their jars, and nothing is said about it.
    return f"{COMPILER} -Xshare:auto -XX:SharedArchiveFile={archive} -Xlog:disable -Xlog:all=error:stderr" if archive.exists() else COMPILER


if __name__ == "__main__":
    kafka_options(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
