"""Hosts in network namespaces on one bridge, a name server for them, and the rules that cut them from each other. Needs root."""
import fcntl
import pathlib
import shutil
import socket
import struct
import subprocess
import threading

DOMAIN = "nudge.test"
# Where a run locks the number of its network.
LOCKS = pathlib.Path("/run/lock")


def run(*command, check=True):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(str(it) for it in command)}: {done.stdout.strip()}")
    return done.stdout


class Here:
    """All processes on this host."""

    @staticmethod
    def inside(_):
        return []

    @staticmethod
    def address(_):
        return "127.0.0.1"

    def name(self, host):
        return self.address(host)

    def close(self):
        pass


def free_network():
    """The number of a network that no run of this machine has, and the open file that locks it."""
    for number in range(256):
        lock = (LOCKS / f"nudge-network-{number}").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return number, lock
        except BlockingIOError:
            lock.close()
    raise RuntimeError("256 networks are in use")


class Hosts(Here):
    """Several runs have a network each."""

    def __init__(self, names):
        self.names = names
        self.number, self.lock = free_network()
        self.bridge, self.network = f"nudge-net{self.number}", f"10.231.{self.number}"
        self.remove()
        server = f"{self.network}.1"
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "addr", "add", f"{server}/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")
        for name in names:
            space, link = self.space(name), self.link(name)
            run("ip", "netns", "add", space)
            run("ip", "link", "add", link, "type", "veth", "peer", "name", "uplink", "netns", space)
            run("ip", "link", "set", link, "master", self.bridge, "up")
            for command in (["addr", "add", f"{self.address(name)}/24", "dev", "uplink"], ["link", "set", "uplink", "up"],
                            ["link", "set", "lo", "up"], ["route", "add", "default", "via", server]):
                run("ip", "-n", space, *command)
            # `ip netns exec` puts these files in the place of those in /etc.
            files = pathlib.Path("/etc/netns") / space
            files.mkdir(parents=True)
            (files / "resolv.conf").write_text(f"nameserver {server}\n")
        self.resolver = Resolver(server, {self.name(name): self.address(name) for name in names})

    def space(self, host):
        return f"nudge{self.number}-{host}"

    def link(self, host):
        return f"nudge{self.number}-{self.names.index(host)}"

    def address(self, host):
        return f"{self.network}.{11 + self.names.index(host)}"

    def name(self, host):
        return f"{host}.{DOMAIN}"

    def inside(self, host):
        """What begins a command that runs on a host."""
        return ["ip", "netns", "exec", self.space(host), "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', host]

    def ports(self, host, port):
        """The local ports of a host's connections to a port."""
        lines = run(*self.inside(host), "ss", "-Htn", "state", "established", f"( dport = :{port} )").splitlines()
        return [line.split()[2].rsplit(":", 1)[1] for line in lines]

    def cut(self, host, *rules):
        for rule in rules:
            run(*self.inside(host), "iptables", "-A", *rule)

    def heal(self, host):
        run(*self.inside(host), "iptables", "-F")

    def close(self):
        self.resolver.close()
        self.remove()
        self.lock.close()

    def remove(self):
        for name in self.names:
            run("ip", "netns", "del", self.space(name), check=False)
            run("ip", "link", "del", self.link(name), check=False)
            shutil.rmtree(f"/etc/netns/{self.space(name)}", ignore_errors=True)
        run("ip", "link", "del", self.bridge, check=False)


def sent_to(address, port=None):
    return ["OUTPUT", "-p", "tcp", "-d", address, *(["--dport", str(port)] if port else [])]


def received_from(address, port=None):
    return ["INPUT", "-p", "tcp", "-s", address, *(["--sport", str(port)] if port else [])]


class Resolver:
    """A name server: an address for each name that it knows, no other records."""

    def __init__(self, server, addresses):
        self.addresses = addresses
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((server, 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                question, sender = self.socket.recvfrom(512)
                self.socket.sendto(self.reply(question), sender)
            except (OSError, IndexError, struct.error):
                if self.socket.fileno() < 0:
                    return

    def reply(self, question):
        labels, place = [], 12
        while question[place]:
            labels.append(question[place + 1:place + 1 + question[place]].decode("ascii", "replace"))
            place += question[place] + 1
        kind, = struct.unpack_from(">H", question, place + 1)
        address = self.addresses.get(".".join(labels).lower())
        found = address is not None and kind == 1
        head = question[:2] + struct.pack(">HHHHH", 0x8580 | (0 if address else 3), 1, 1 if found else 0, 0, 0)
        record = struct.pack(">HHHIH", 0xC00C, 1, 1, 1, 4) + socket.inet_aton(address) if found else b""
        return head + question[12:place + 5] + record

    def close(self):
        self.socket.close()
