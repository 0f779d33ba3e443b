#!/usr/bin/env python3
"""Cuts services from brokers, brokers from each other and dispatchers from FCM, in network namespaces, and holds what follows to the books.

  KAFKA_HOME=/opt/kafka Tests/Network/network.py .build/release --seed 1

Three brokers, two instances of each service, FCM's emulator and the producers, each on a host of its own. Messages are published all the
time. Faults come one after the other, in an order that goes through all of them over some seeds. Of one instance of a service, or of both:

  silence      nothing gets through between it and the brokers, for some seconds
  inward       only what is sent to it does not
  outward      only what it sends does not
  refusal      its connections to the brokers are reset and refused
  one          nothing gets through between it and one of the brokers
  coordinator  the same with its group's coordinator
  dead         its connections of now carry nothing any more; new ones work
  dns          its connections die so, and its name server does not answer for some seconds
  fcm, fcm-inward, fcm-outward, fcm-refusal, fcm-dead
               the same between a dispatcher and FCM

Of a broker:

  between          nothing gets through between it and the other brokers
  between-outward  only what it sends to them does not
  alone            nothing gets through between it and anybody

In a third of the faults a process is killed meanwhile, and started again. Afterwards every message must have been at FCM once, and nobody's
messages may have paused for longer than --limit seconds, after a fault ended and brokers that were cut from each other sent again. A
dispatcher that is killed, or cut from FCM or Kafka, with a request in flight may have sent that once more. Nothing may be set aside, and no
process may end by itself.
Needs root, iproute2, iptables and kcat. Exit code: 0 all is well, 1 something is not, 3 it cannot run here.
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from hosts import Hosts, received_from, run, sent_to
from pipeline import SERVICES, Pipeline, cannot

BROKERS = ["broker1", "broker2", "broker3"]
INSTANCES = ["1", "2"]
RATE = 10
LENGTHS = [2, 4, 7, 10, 14, 20, 30, 60]
KAFKA_FAULTS = ["silence", "inward", "outward", "refusal", "one", "coordinator", "dead", "dns"]
FCM_FAULTS = ["fcm", "fcm-inward", "fcm-outward", "fcm-refusal", "fcm-dead"]
BROKER_FAULTS = ["between", "between-outward", "alone"]
# For how long after its begin a fault without an end may be unnoticed.
NOTICED = 12
# A request without an answer is sent again after its time-out (15 s) and 10 s more.
UNANSWERED = 25
# After this many seconds without a word from a broker the others go on without it. After a shorter cut all of them wait until the connections
# between them send again, as TCP has them do at last after as long as the cut lasted.
LEFT_OUT = 9
# A dispatcher commits the answers of this many seconds at once, at the most.
UNCOMMITTED = 5

# `end` is when all that the fault had taken away was there again; `silent` is for how many seconds more brokers send each other nothing.
Fault = collections.namedtuple("Fault", "kind hosts begin end killed silent")


def deck():
    """Every kind of fault with its target: a service or a broker. Always in the same order."""
    cards = [(kind, service) for service in SERVICES for kind in KAFKA_FAULTS]
    cards += [(kind, "dispatcher") for kind in FCM_FAULTS] + [(kind, broker) for broker in BROKERS for kind in BROKER_FAULTS]
    random.Random(63).shuffle(cards)
    return cards


def until_sent_again(line):
    """The seconds until a connection sends again, from a line of `ss -o`: `timer:(on,1min2sec,7)`."""
    timer = re.search(r"timer:\(on,(?:(\d+)min)?(?:([\d.]+)sec)?(?:(\d+)ms)?,", line)
    minutes, seconds, milliseconds = (float(it or 0) for it in timer.groups()) if timer else (0, 0, 0)
    return minutes * 60 + seconds + milliseconds / 1000


def java_hash(text):
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value & 0x7FFFFFFF


class Trial(Pipeline):
    PEOPLE = 50
    everything = [*BROKERS, *(service + it for service in SERVICES for it in INSTANCES)]

    def __init__(self, programs, kafka, folder, is_static):
        # `killed` has what is to be started again, and since when it is away.
        self.is_static, self.wrong, self.killed, self.kills = is_static, [], {}, []
        super().__init__(programs, kafka, folder, Hosts([*self.everything, "fcm", "client"]), BROKERS, INSTANCES)

    def start_service(self, name, **more):
        super().start_service(name, arguments=["--instance", name] if self.is_static else [], **more)

    def coordinator(self, service):
        """The broker that coordinates a service's group."""
        partition = java_hash(f"nudge-{service}") % 4
        up = [f"{self.hosts.address(it)}:{self.PORT}" for it in BROKERS]
        text = run(*self.hosts.inside("client"), "kcat", "-L", "-b", ",".join(up), "-t", "__consumer_offsets")
        for line in text.splitlines():
            words = line.replace(",", "").split()
            if words[:2] == ["partition", str(partition)]:
                return BROKERS[int(words[3]) - 1]
        raise RuntimeError(f"no coordinator of {service}: {text}")

    def rules(self, kind, host, draw):
        """What is cut on a host."""
        drop, reset = ["-j", "DROP"], ["-j", "REJECT", "--reject-with", "tcp-reset"]
        if kind in BROKER_FAULTS:
            others = [self.hosts.address(it) for it in BROKERS if it != host]
            if kind == "alone":
                return [["OUTPUT", "-p", "tcp", *drop], ["INPUT", "-p", "tcp", *drop]]
            return [[*rule(it), *drop] for it in others for rule in (sent_to, received_from)[:1 if kind == "between-outward" else 2]]
        port = self.fcm if kind.startswith("fcm") else self.PORT
        places = [self.hosts.address(it) for it in (["fcm"] if kind.startswith("fcm") else BROKERS)]
        if kind == "one":
            places = [draw.choice(places)]
        if kind == "coordinator":
            places = [self.hosts.address(self.coordinator(host[:-1]))]
        way = kind.removeprefix("fcm-")
        if way in ("dead", "dns"):
            rules = [[chain, "-p", "tcp", far, str(port), near, local, *drop] for local in self.hosts.ports(host, port)
                     for chain, far, near in (("OUTPUT", "--dport", "--sport"), ("INPUT", "--sport", "--dport"))]
            return rules + [["OUTPUT", "-p", it, "--dport", "53", *drop] for it in ("udp", "tcp") if way == "dns"]
        out, into = [[*sent_to(it, port), *drop] for it in places], [[*received_from(it, port), *drop] for it in places]
        return {"outward": out, "inward": into, "refusal": [[*sent_to(it, port), *reset] for it in places]}.get(way, out + into)

    def go_on(self, seconds):
        """Publishes for some seconds, starts again what was killed, and finds what ended by itself."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.message()
            time.sleep(1 / RATE)
            self.supervise()

    def supervise(self):
        for name, process in list(self.processes.items()):
            if process.poll() is None:
                continue
            if name not in self.killed:
                if name not in self.everything:
                    raise RuntimeError(f"{name} ended with {process.returncode}")
                self.wrong.append(f"{name} ended with {process.returncode}: {self.log(name).splitlines()[-1:]}")
                self.killed[name] = time.monotonic()
            elif time.monotonic() > self.killed[name] + (5 if name in BROKERS else 1):
                del self.killed[name]
                self.start_broker(name) if name in BROKERS else self.start_service(name)

    def kill(self, name):
        self.kills.append((name, time.time()))
        self.killed[name] = time.monotonic()
        self.processes[name].kill()

    def is_up(self, name):
        """Whether a process that was killed is back."""
        word = "Kafka Server started" if name in BROKERS else '"message":"ready"'
        return name not in self.killed and self.log(name).count(word) > sum(it == name for it, _ in self.kills)

    def silence_to_come(self, broker):
        """In how many seconds the last of a broker's connections with other brokers sends again what was not acknowledged."""
        longest = 0.0
        for host in BROKERS:
            peers = [it for it in BROKERS if it != broker] if host == broker else [broker]
            lines = run(*self.hosts.inside(host), "ss", "-Htno", "state", "connected",
                        " or ".join(f"dst {self.hosts.address(it)}" for it in peers)).splitlines()
            longest = max([longest, *(until_sent_again(line) for line in lines)])
        return longest

    def fault(self, kind, target, length, draw):
        hosts = [target] if kind in BROKER_FAULTS else draw.choice(
            [[target + "1"], [target + "2"], [target + "1", target + "2"]])
        victim = draw.choice(self.everything) if draw.random() < 1 / 3 else None
        rules, begin = {host: self.rules(kind, host, draw) for host in hosts}, time.time()
        for host, its in rules.items():
            self.hosts.cut(host, *its)
        if victim:
            self.go_on(length / 2)
            self.kill(victim)
            self.go_on(length / 2)
        elif not kind.endswith("dead"):
            self.go_on(length)
        sends = time.time() + self.silence_to_come(target) if kind in BROKER_FAULTS else 0.0
        if not kind.endswith("dead"):
            for host in hosts:
                self.hosts.heal(host)
        end = begin if kind.endswith("dead") and not victim else time.time()
        if victim:
            limit = time.monotonic() + 90
            while not self.is_up(victim):
                self.go_on(0.5)
                if time.monotonic() > limit:
                    raise RuntimeError(f"{victim} was killed, and is not back")
            end = time.time()
        return Fault(kind, tuple(hosts), begin, end, victim, max(0.0, sends - end))

    def heal_all(self):
        for host in self.hosts.names:
            self.hosts.heal(host)

    def dead_letters(self):
        done = subprocess.run([*self.hosts.inside("client"), "kcat", "-C", "-e", "-q", "-b", self.bootstrap, "-t", "nudge.dead-letters",
                               "-X", "isolation.level=read_committed", "-f", "%k %s\n"], stdout=subprocess.PIPE, text=True, timeout=60)
        return done.stdout.splitlines()


def losses(faults, kills):
    """The spans in which a dispatcher may have been unable to write its answers, or to have them."""
    spans = [(at, at) for name, at in kills if name.startswith("dispatcher")]
    for fault in faults:
        if fault.hosts[0].startswith("dispatcher"):
            spans.append((fault.begin, max(fault.end, fault.begin + NOTICED)))
    # Brokers that are away take nobody's answers.
    away = [fault for fault in faults if fault.kind in BROKER_FAULTS or fault.killed in BROKERS]
    return [(min([first, *(it.begin for it in away if it.begin <= first <= it.end + NOTICED)]) - UNCOMMITTED, last) for first, last in spans]


def judge(trial, faults, arrivals, limit):
    """Prints what followed each fault, and returns what is wrong."""
    wrong, spans, again = [], losses(faults, trial.kills), 0
    for message in trial.published:
        times = sorted(arrivals.get(message, []))
        if not times:
            wrong.append(f"{message} was never at FCM")
        for first, _ in zip(times, times[1:]):
            again += 1
            if not any(begin <= first <= end for begin, end in spans):
                wrong.append(f"{message} was at FCM at {times}, and no dispatcher was lost")
    pauses, meanwhile, calm = collections.defaultdict(float), collections.defaultdict(float), 0.0
    before = collections.defaultdict(float)
    for number, (message, at) in enumerate(trial.published.items()):
        for arrival in sorted(arrivals.get(message, []))[:1]:
            # Since when nothing of the same person was before it.
            since, before[number % trial.PEOPLE] = max(at, before[number % trial.PEOPLE]), arrival
            # It counts for the last fault that it met, from that one's end on.
            met = [fault for fault in faults if fault.begin <= arrival and fault.end + limit >= since]
            if met:
                pauses[met[-1]] = max(pauses[met[-1]], arrival - max(since, met[-1].end))
                meanwhile[met[-1]] = max(meanwhile[met[-1]], min(arrival, met[-1].end) - at)
            else:
                calm = max(calm, arrival - since)
    for fault in faults:
        dispatchers = any(name.startswith("dispatcher") and fault.begin <= at <= fault.end for name, at in trial.kills)
        allowed = limit + (UNANSWERED if dispatchers else 0)
        allowed += min(fault.silent, LEFT_OUT)
        print(f"{fault.kind:15} {'+'.join(fault.hosts):23} {fault.end - fault.begin:5.1f} s{', kills ' + fault.killed if fault.killed else '':22}"
              f" longest delay in it {meanwhile[fault]:5.1f} s, after it {pauses[fault]:5.1f} s"
              f"{f', brokers silent for {fault.silent:.1f} s of that' if fault.silent else ''}")
        if pauses[fault] > allowed:
            wrong.append(f"{fault.kind} of {'+'.join(fault.hosts)}: {pauses[fault]:.1f} s after its end")
    print(f"{len(trial.published)} messages, {len(faults)} faults, {len(trial.kills)} kills, {again} sent again, "
          f"longest pause after a fault {max(pauses.values(), default=0):.1f} s, without one {calm:.1f} s", flush=True)
    return wrong + ([f"{calm:.1f} s without a fault"] if calm > limit else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=pathlib.Path, help="the folder of the programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--limit", type=float, default=12)
    parser.add_argument("--faults", default="", help="only these kinds, with commas")
    options = parser.parse_args()
    if os.geteuid() != 0:
        cannot("network namespaces need root")
    for tool in ("ip", "iptables", "ss", "kcat"):
        if not shutil.which(tool):
            cannot(f"there is no {tool}: apt-get install iproute2 iptables kcat")
    kafka = os.environ.get("KAFKA_HOME") or cannot("KAFKA_HOME is not set")
    wanted = set(options.faults.split(",")) - {""}
    cards = [it for it in deck() if not wanted or it[0] in wanted]
    # Three minutes have room for five faults or so. Each seed takes the next five kinds.
    first, draw = (options.seed - 1) * 5 % len(cards), random.Random(options.seed)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nudge-network-"))
    trial, faults, wrong, dead = None, [], [], []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        trial = Trial(options.programs.resolve(), kafka, folder, is_static=options.seed % 2 == 0)
        trial.open()
        trial.begin()
        trial.go_on(5)
        end = time.monotonic() + options.minutes * 60
        while time.monotonic() + 5 < end:
            kind, target = cards[(first + len(faults)) % len(cards)]
            length = min(draw.choice(LENGTHS), max(2.0, end - time.monotonic() - options.limit))
            faults.append(trial.fault(kind, target, length, draw))
            trial.go_on(options.limit + 3)
            trial.heal_all()
        trial.wait("all messages to be at FCM", lambda: set(trial.arrivals()) >= set(trial.published), 60)
        dead = trial.dead_letters()
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        wrong.append(str(error))
    finally:
        if trial:
            trial.end()
            trial.hosts.close()
    if trial:
        wrong += trial.wrong + judge(trial, faults, trial.arrivals(), options.limit)
        wrong += [f"set aside: {it}" for it in dead]
    for line in wrong[:20]:
        print(f"WRONG (seed {options.seed}): {line}")
    if wrong:
        print(f"logs in {folder}")
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
