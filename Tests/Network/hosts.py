"""Hosts in network namespaces on one bridge, a name server for them, and the rules that cut them from each other. Needs root."""
import pathlib
import shutil
import socket
import struct
import subprocess
import threading

BRIDGE = "nudge-net"
NETWORK = "10.231.0"
SERVER = f"{NETWORK}.1"
DOMAIN = "nudge.test"


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


class Hosts(Here):
    def __init__(self, names):
        self.names = names
        self.remove()
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "addr", "add", f"{SERVER}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for number, name in enumerate(names):
            space, link = f"nudge-{name}", f"nudge{number}"
            run("ip", "netns", "add", space)
            run("ip", "link", "add", link, "type", "veth", "peer", "name", "uplink", "netns", space)
            run("ip", "link", "set", link, "master", BRIDGE, "up")
            for command in (["addr", "add", f"{self.address(name)}/24", "dev", "uplink"], ["link", "set", "uplink", "up"],
                            ["link", "set", "lo", "up"], ["route", "add", "default", "via", SERVER]):
                run("ip", "-n", space, *command)
            # `ip netns exec` puts these files in the place of those in /etc.
            files = pathlib.Path("/etc/netns") / space
            files.mkdir(parents=True)
            (files / "resolv.conf").write_text(f"nameserver {SERVER}\n")
        self.resolver = Resolver({self.name(name): self.address(name) for name in names})

    def address(self, host):
        return f"{NETWORK}.{11 + self.names.index(host)}"

    def name(self, host):
        return f"{host}.{DOMAIN}"

    @staticmethod
    def inside(host):
        """What begins a command that runs on a host."""
        return ["ip", "netns", "exec", f"nudge-{host}", "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"', host]

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

    def remove(self):
        for number, name in enumerate(self.names):
            run("ip", "netns", "del", f"nudge-{name}", check=False)
            run("ip", "link", "del", f"nudge{number}", check=False)
            shutil.rmtree(f"/etc/netns/nudge-{name}", ignore_errors=True)
        run("ip", "link", "del", BRIDGE, check=False)


def sent_to(address, port=None):
    return ["OUTPUT", "-p", "tcp", "-d", address, *(["--dport", str(port)] if port else [])]


def received_from(address, port=None):
    return ["INPUT", "-p", "tcp", "-s", address, *(["--sport", str(port)] if port else [])]


class Resolver:
    """A name server: an address for each name that it knows, no other records."""

    def __init__(self, addresses):
        self.addresses = addresses
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((SERVER, 53))
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
