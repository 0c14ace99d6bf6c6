"""The programs of the table: what they are, and what limits them by their own source."""

from dataclasses import dataclass
from enum import Enum


class Limit(Enum):
    """What limits a program, and so which answer is right."""

    NOTHING = "nothing on two cores"
    LOCK = "a lock of its own"
    TURNS = "one thread at a time computes"
    KERNEL = "a lock of the kernel"
    ELSEWHERE = "something else than locks"


@dataclass(frozen=True)
class Program:
    """A program of the table."""

    name: str
    language: str
    # As a shell would read it, without quotes.
    command: str
    limit: Limit
    # In a few words, for the table.
    why: str
    # What a right answer about a lock names: words of the lock or of where it is taken.
    names: tuple[str, ...] = ()


# SECTIONS HOLD THINK: a lock that is held for three quarters of the time, and one that hardly is.
CONTENDED = "600000 600 200"
QUIET = "6000 5 160000"

LOCK, NOTHING = Limit.LOCK, Limit.NOTHING


def contended(name, language, command, what, *names):
    """A program of this folder whose lock is held three quarters of the time."""
    return Program(name, language, f"{command} 4 {CONTENDED}", LOCK, what, names)


def quiet(name, language, command, what):
    """The same program with hardly anything under the lock."""
    return Program(f"{name}, quiet", language, f"{command} 4 {QUIET}", NOTHING, f"{what}, hardly held")


PROGRAMS = [
    contended("pthread mutex", "C", "./c-pthread_mutex", "a pthread mutex", "body in c-pthread_mutex"),
    quiet("pthread mutex", "C", "./c-pthread_mutex", "a pthread mutex"),
    contended("C11 mtx", "C", "./c-c11_mtx", "a lock of C11", "body in c-c11_mtx"),
    contended("pthread spin", "C", "./c-pthread_spin", "a pthread spin lock", "c-pthread_spin"),
    contended("own spin", "C", "./c-own_spin", "a spin lock of its own", "c-own_spin"),
    quiet("own spin", "C", "./c-own_spin", "a spin lock of its own"),
    Program("rwlock", "C", "./c-rwlock_read 4 6000 5 160000", NOTHING, "readers of a read-write lock, hardly held"),
    Program("barrier", "C", "./c-barrier 4 40000 0 12000", NOTHING, "a barrier, all alike"),
    Program("one thread", "C", "./c-serial 1 400000 300 500", Limit.TURNS, "one thread"),
    Program("counter", "C", "./c-shared_counter 4 400000 100 10", Limit.ELSEWHERE, "one counter without a lock"),
    Program("mmap", "C", "./c-mapping 4 60000 16 100", Limit.KERNEL, "mapping memory", ("mmap_lock", "mapped memory")),
    Program("directory", "C", "./c-directory 4 100000 0 100", Limit.KERNEL, "files of one directory", ("director", "open", "inode")),
    Program("one file", "C", "./c-one_file 4 600000 4096 100", Limit.KERNEL, "writes to one file", ("file", "write", "inode")),
    contended("std::mutex", "C++", "./cpp-std_mutex", "std::mutex", "cpp-std_mutex"),
    contended("atomic wait", "C++", "./cpp-atomic_wait", "std::atomic's wait", "cpp-atomic_wait"),
    Program("TBB loop", "C++", "./cpp-tbb_for 4 60000 0 16000", NOTHING, "a parallel loop"),
    contended("OpenMP critical", "OpenMP", "./openmp-critical", "a critical section", "OpenMP", "openmp-critical"),
    Program("OpenMP loop", "OpenMP", "./openmp-loop 4 60000 0 16000", NOTHING, "a parallel loop"),
    contended("Go mutex", "Go", "./go-mutex", "sync.Mutex", "go-mutex", "main.lock", "mutex.go"),
    quiet("Go mutex", "Go", "./go-mutex", "sync.Mutex"),
    Program("Go channel", "Go", "./go-channel 4 600000 800 100", Limit.TURNS, "one receiver"),
    contended("Java monitor", "Java", "java -cp . Synchronized", "synchronized", "Java", "Synchronized"),
    quiet("Java monitor", "Java", "java -cp . Synchronized", "synchronized"),
    contended("Java lock", "Java", "java -cp . Reentrant", "ReentrantLock", "Java", "Reentrant"),
    contended("Rust Mutex", "Rust", "./rust-std_mutex", "std::sync::Mutex", "rust-std_mutex", "SHARED"),
    quiet("Rust Mutex", "Rust", "./rust-std_mutex", "std::sync::Mutex"),
    contended("parking_lot", "Rust", "./rust-parking_lot", "parking_lot::Mutex", "parking-lot", "SHARED"),
    contended("D mutex", "D", "./d-mutex", "core.sync.mutex", "core4sync5mutex"),
    Program("MVar", "Haskell", f"./haskell-mvar 4 {CONTENDED}", Limit.TURNS, "an MVar that light threads pass on"),
    Program("workers, lock", "JavaScript", "node atomics.js 4 400000 600 200", LOCK, "a lock of Atomics"),
    Program("workers", "JavaScript", "node atomics.js 4 40000 0 16000", NOTHING, "workers that share nothing"),
    Program("OCaml threads", "OCaml", "./ocaml-threads 4 20000 8000 8000", Limit.TURNS, "the runtime's lock"),
    Program("Python threads", "Python", "python3 threads.py threads 4 12000000", Limit.TURNS, "the interpreter's lock"),
    Program("Python processes", "Python", "python3 threads.py processes 4 12000000", NOTHING, "processes"),
    Program("Ruby threads", "Ruby", "ruby threads.rb 4 24000000", Limit.TURNS, "the interpreter's lock"),
    Program("Erlang server", "Erlang", "erl -noshell -run one_server main 4 60000 800 100", Limit.TURNS, "one process serves all"),
    Program("pigz", "C", "pigz -p 4 -c text", NOTHING, "blocks that know nothing of one another"),
    Program("pbzip2", "C++", "pbzip2 -p4 -c half", NOTHING, "the same"),
    Program("lbzip2", "C", "lbzip2 -n4 -c text", NOTHING, "the same"),
    Program("xz", "C", "xz -T4 -1 -c --block-size=2MiB text", NOTHING, "the same"),
    Program("zstd", "C", "zstd -T4 -9 -c text", NOTHING, "jobs that one thread hands out"),
    Program("7z", "C++", "7z a -mmt4 -mx5 -bd out.7z half", Limit.ELSEWHERE, "one encoder, whose search for matches has a thread of its own"),
    Program("stockfish", "C++", "/usr/games/stockfish bench 64 4 11", NOTHING, "a tree search that shares a table without locks"),
    Program("povray", "C++", "povray +WT4 -D +Iscene.pov +W600 +H450 +A0.1 -O/dev/null", NOTHING, "blocks of pixels"),
    Program("bwa", "C", "bwa mem -t 4 genome.fa reads.fq", NOTHING, "batches of reads; input and output are serial"),
    Program("samtools", "C", "samtools sort -@ 4 -m 30M -o /dev/null reads.sam", NOTHING, "reading and merging are serial"),
    Program("x264", "C", "x264 --quiet --no-progress --threads 4 -o /dev/null clip.y4m", NOTHING, "frames that wait for one another"),
    Program("kccachetest", "C++", "kccachetest order -th 4 400000", LOCK, "locks of a hash table, a shard each"),
    Program("sysbench mutex", "C", "sysbench --threads=4 --mutex-num=1 --mutex-locks=400000 --mutex-loops=100 mutex run", LOCK, "one mutex, hardly any work outside"),
    Program("sysbench memory", "C", "sysbench --threads=4 --time=0 --memory-block-size=1M --memory-total-size=30G memory run", Limit.ELSEWHERE, "memory bandwidth"),
]
