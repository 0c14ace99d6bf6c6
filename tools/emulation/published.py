"""Programs whose throughput is published, as they are emulated here, and what was published of them."""

import argparse
import csv
import os
import subprocess
import tempfile

from emulated import ROOT, SOURCES, document, evidence

__all__ = ["PACKAGES", "PROGRAMS", "arguments", "compare", "pair", "pair_of", "published", "seeds"]

PACKAGES = "gcc kyotocabinet-utils libc6-dev libsqlite3-dev libvips-tools python3-minimal rocksdb-tools x264".split()
# The machine of the data set, its name here, cores in a node, and the nodes that are compared.
MACHINES = [("A48", "opteron-6344-4s", 6, (1, 2, 4, 8)), ("I48", "xeon-e7-4830v3-4s", 12, (1, 2, 4))]


class Program:
    """What is emulated: whether each thread has as much to do on any number of cores, and what prepares it.

    `preload` is a library in the current folder that is loaded with it. If `whole`, all of the run is compared, as it was published. Otherwise it is the parallel part where there is one:
    with a smaller input, what one thread does before has a larger share than it had in the study.
    """

    def __init__(self, command, of_each_thread, prepare=None, whole=False, preload=None):
        self.command, self.of_each_thread, self.prepare, self.whole = command, of_each_thread, prepare, whole
        self.preload = preload

    def make(self):
        """Builds it and its input in the current folder."""
        if self.prepare:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(self.prepare, shell=True, check=True, **quiet)

    def points(self, cores, *options):
        """The points of its document, emulated anew on these numbers of cores."""
        preload = {"LD_PRELOAD": os.path.abspath(self.preload)} if self.preload else {}
        return document(self.command, cores, *options, **preload)["points"]

    def rates(self, points):
        """Its throughput at each of these points of a document: in the run that is shown, and in all of them."""
        whole = self.whole or not all(run["parallel"] for point in points for run in point["runs"])

        def rate(point, run):
            span = run["parallel"]
            ns = run["end_ns"] if whole else span["end_ns"] - span["start_ns"]
            return (point["cores"] if self.of_each_thread else 1) / ns

        return [(rate(point, point), [rate(point, run) for run in point["runs"]]) for point in points]


# The compiler of the study, gcc 4.6, makes no vectors of these loops as far as is known.
COMPILED = "gcc -O3 -fno-tree-vectorize -pthread"


def mapped(name, arguments, kind=None, amount=0):
    """A program that maps and reduces, with a file to read that has so much of a kind."""
    prepare = f"{COMPILED} -o {name} {SOURCES}/{name}.c {SOURCES}/mapreduce.c"
    if kind:
        prepare += f" && {COMPILED} -o inputs {SOURCES}/inputs.c && ./inputs {kind} {amount} >input"
    return Program(f"./{name} {{cores}} {arguments}", False, prepare)


DB = "--db=db --num=20000 --compression_type=none --disable_wal --cache_size=100000000"
PROGRAMS = {
    # Not packaged: a program that takes the same steps, and no source of it. The study: 16,384 points of 128 coordinates.
    "streamcluster": Program(
        "./medians {cores} 16384 60", False, f"gcc -O3 -pthread -o medians {SOURCES}/medians.c"
    ),
    # The same. The study ran those of Phoenix that its library maps and reduces, on 2 GB of pixels, 3 GB of points,
    # 20 GB of keys, 1 GB of words, two matrices of 3,000 rows, 5,000,000 points, and a matrix of 4,000 rows.
    "histogram": mapped("histogram", "input", "pixels", 400_000_000),
    "linear_regression": mapped("regression", "input", "points", 300_000_000),
    "string_match": mapped("strings", "input", "keys", 96_000_000),
    "word_count": mapped("words", "input", "words", 24_000_000),
    "matrix_multiply": mapped("matrices", "3000 96"),
    "kmeans": mapped("means", "1000000 100 1"),
    "pca": mapped("covariances", "4000 20"),
    # The study: 10,000,000 options.
    "blackscholes": Program(
        "./options {cores} options.txt 100", False,
        f"{COMPILED} -o inputs {SOURCES}/inputs.c && ./inputs options 20000 >options.txt"
        f" && {COMPILED} -o options {SOURCES}/options.c -lm", whole=True,
    ),
    # The study replaced mutexes only, and gained by that. Today's program has a read-write lock in the place of that mutex.
    "kyotocabinet": Program(
        "kccachetest wicked -th {cores} -bnum 65536 3000", True,
        f"gcc -std=gnu2x -O2 -shared -fPIC -o mutexes.so {SOURCES}/rwlock_as_mutex.c", preload="mutexes.so",
    ),
    "rocksdb": Program(
        f"db_bench {DB} --use_existing_db=1 --benchmarks=readrandom --threads={{cores}} --reads=3000", True,
        f"db_bench {DB} --benchmarks=fillseq",
    ),
    "vips": Program(
        "vips --vips-concurrency={cores} sharpen image.v sharp.v", False,
        "sh -c 'vips gaussnoise grey.v 4000 4000 --mean 128 --sigma 30 && vips bandjoin \"grey.v grey.v grey.v\" three.v"
        " && vips cast three.v uchar.v uchar && vips copy uchar.v image.v --interpretation srgb'",
    ),
    "x264": Program(
        "x264 --quiet --no-progress --threads {cores} --qp 20 --partitions b8x8,i4x4 --ref 5 --direct auto"
        " --b-pyramid normal --weightb --mixed-refs --no-fast-pskip --me umh --subme 7 --analyse b8x8,i4x4"
        " -o /dev/null clip.y4m", False,
        f"sh -c 'python3 {ROOT}/tools/profiles/clip.py 320 192 48 >clip.y4m'",
    ),
}


def published(machine, program, lock="pthread"):
    """Throughput by nodes, under one lock."""
    with open(os.path.join(ROOT, "data", "litl", f"{machine}.csv"), newline="") as file:
        return {
            int(row["nodes"]): float(row["throughput_median"])
            for row in csv.DictReader(file)
            if row["program"] == program and row["lock"] == lock
        }


def pair(truth, shown, least, most):
    """The cell of what is published and emulated. What chance decides is shown where it is more than a tenth."""
    chance = f" ({least:.2f}–{most:.2f})" if most > 1.1 * least else ""
    return f"{truth:.2f} / {shown:.2f}{chance}"


def pair_of(cell):
    """What is published and emulated, of such a cell; nothing of another."""
    parts = cell.split(" / ")
    return tuple(float(part.split()[0]) for part in parts) if len(parts) == 2 else None


def merged(page, rows):
    """The rows of a page with these in the place of those of the same programs, in the order of the programs."""
    with open(page) as file:
        lines = [line.strip("| \n").split(" | ") for line in file if line.startswith("| ")]
    known = {(line[0], line[1]): line for line in lines if line[0] in PROGRAMS}
    known.update({(row[0], row[1]): row for row in rows})
    order = list(PROGRAMS)
    return sorted(known.values(), key=lambda row: (order.index(row[0]), row[1]))


def table(heads, rows, summary):
    """The lines of a page."""
    lines = [heads, ["---"] * len(heads), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines] + ["", summary]


def arguments():
    """What both tools take."""
    parser = argparse.ArgumentParser(description="See the head of this file.")
    parser.add_argument("--page", type=os.path.abspath)
    parser.add_argument("--seeds", help="most runs of each, as of `kilocore emulate`")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    return parser


def seeds(options):
    """How often each is run, as options of `kilocore emulate`."""
    return ["--seeds", options.seeds] if options.seeds else []


def compare(options, heads, cells_of, summary):
    """Makes the programs and prints a row of each on each machine: its cells, and how many seconds these took. If there is
    a page, each row is written to it when it is known."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in options.programs or PROGRAMS:
            PROGRAMS[name].make()
            for data, machine, per_node, nodes in MACHINES:
                cells, seconds = cells_of(name, data, machine, per_node, nodes)
                rows.append([name, data, *cells, f"{seconds:.0f}"])
                print("| " + " | ".join(rows[-1]) + " |", flush=True)
                if options.page:
                    all_rows = merged(options.page, rows)
                    evidence.replace(options.page, table(heads, all_rows, summary(all_rows)))
    print(summary(rows))
