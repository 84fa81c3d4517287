"""Runs a command on a machine of its own without a network, whose name server hears what names are asked for.

Python's audit hooks do not see what libraries written in C++ do; a look-up of a name is seen here whoever does it.
Called as: unshare --map-root-user --net --mount python -m tests.outside SECONDS COMMAND..., it prints the names.
"""

import fcntl
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time


def main(seconds: float, command: list[str]) -> None:
    with socket.socket() as any_socket:
        up = struct.pack("16sh", b"lo", 0x1 | 0x40)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(any_socket, 0x8914, up)  # SIOCSIFFLAGS
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as resolv:
        resolv.write("nameserver 127.0.0.1\n")
        resolv.flush()
        subprocess.run(["mount", "--bind", resolv.name, "/etc/resolv.conf"], check=True)
        names = set[str]()
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind(("127.0.0.1", 53))
        threading.Thread(target=listen, args=(listener, names), daemon=True).start()
        began = time.monotonic()
        program = subprocess.Popen(command, stdout=sys.stderr)
        try:
            program.wait(seconds)
        except subprocess.TimeoutExpired:
            program.terminate()
        program.wait(20)
        time.sleep(max(0, 1 - (time.monotonic() - began)))
    print("\n".join(sorted(names)))


def listen(listener: socket.socket, names: set[str]) -> None:
    while True:
        asked, address = listener.recvfrom(512)
        names.add(name_in(asked))
        listener.sendto(asked[:2] + b"\x81\x83" + asked[4:6] + b"\0" * 6 + asked[12:], address)  # no such name


def name_in(asked: bytes) -> str:
    """The name of a DNS query: labels, each after its length."""
    labels, at = [], 12
    while asked[at]:
        labels.append(asked[at + 1 : at + 1 + asked[at]].decode("ascii", "replace"))
        at += 1 + asked[at]
    return ".".join(labels)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
