"""What the tools of this folder share: the programs of the verdicts, and what `kilocore emulate` says of a command."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(ROOT, "tools", "verdicts"))

import page as evidence  # noqa: E402
import prepare  # noqa: E402

__all__ = ["KILOCORE", "ROOT", "SOURCES", "document", "evidence", "prepared"]

KILOCORE = os.path.join(ROOT, "target", "release", "kilocore")
SOURCES = os.path.join(ROOT, "tools", "emulation", "programs")


@contextlib.contextmanager
def prepared(input_bytes):
    """Goes into a folder with the programs of the verdicts and a file `short` of so many bytes. Returns its path."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.chdir(folder)
        prepare.build()
        prepare.make_input()
        with open("text", "rb") as text, open("short", "wb") as short:
            short.write(text.read(input_bytes))
        try:
            yield folder
        finally:
            os.chdir("/")


def document(command, cores, *options, **environment):
    """The document of a command that is emulated anew on these numbers of cores. Ends this program if it cannot be."""
    told = subprocess.run(
        [KILOCORE, "emulate", "--no-cache", "--cores", cores, *options, "--json", "--", *command.split()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **environment},
    )
    if told.returncode != 0:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {command}: {told.stderr.decode(errors='replace')[-600:]}")
    return json.loads(told.stdout)
