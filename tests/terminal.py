"""Running a command on a terminal and collecting what it writes there."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios


def run(arguments, columns=80, stderr=None, **options):
    """Run the command with stdout, and stderr unless given, on a terminal of so many columns.

    Returns the ended process and the bytes the terminal received. The terminal's own end stays open until the process has ended and
    everything is read: Linux may report a hangup before it hands out the last bytes.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    os.set_blocking(master, False)
    child = subprocess.Popen(arguments, stdout=slave, stderr=slave if stderr is None else stderr, **options)
    ending = os.pidfd_open(child.pid)
    data = bytearray()
    ended = False
    while not ended:
        ended = ending in select.select([master, ending], [], [])[0]
        try:
            while part := os.read(master, 65536):
                data += part
        except BlockingIOError:
            pass
    for end in (master, slave, ending):
        os.close(end)
    child.wait()
    return child, bytes(data)
