"""Builds the programs of this folder, and makes input for the others."""

import os
import random
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCES = os.path.join(HERE, "programs")
PACKAGES = (
    "bwa default-jdk-headless erlang-base g++ gdc ghc golang-go kyotocabinet-utils lbzip2 libtbb-dev nodejs ocaml-nox "
    "p7zip-full pbzip2 pigz povray python3 ruby samtools stockfish sysbench x264 xz-utils zstd"
)


def run(*words, **options):
    subprocess.run(words, check=True, **options)


def build():
    """Builds all into the current directory."""
    for language, compiler, options in [
        ("c", ["gcc", "-O2", "-pthread"], []),
        ("cpp", ["g++", "-O2", "-std=c++20", "-pthread"], ["-ltbb"]),
        ("openmp", ["gcc", "-O2", "-fopenmp"], []),
        ("go", ["go", "build"], []),
        ("d", ["gdc", "-O2"], []),
    ]:
        folder = os.path.join(SOURCES, language)
        for file in sorted(os.listdir(folder)):
            name, ending = os.path.splitext(file)
            if ending != ".h":
                run(*compiler, "-o", f"{language}-{name}", os.path.join(folder, file), *options)
    run("javac", "-d", ".", *sources("java"))
    run("rustc", "-O", "--edition", "2021", "-o", "rust-std_mutex", source("rust", "std_mutex.rs"))
    run("cargo", "build", "--quiet", "--release", "-p", "kilocore-watched", "--example", "verdicts-parking-lot", cwd=ROOT)
    link("rust-parking_lot", os.path.join(ROOT, "target", "release", "examples", "verdicts-parking-lot"))
    # Both leave what they make on the way beside their sources.
    link("threads.ml", source("ocaml", "threads.ml"))
    run("ocamlopt", "-I", "+threads", "unix.cmxa", "threads.cmxa", "-o", "ocaml-threads", "threads.ml")
    run("ghc", "-v0", "-O1", "-threaded", "-with-rtsopts=-N", "-outputdir", ".", "-o", "haskell-mvar", source("haskell", "MVar.hs"))
    run("erlc", "-o", ".", source("erlang", "one_server.erl"))
    for language, script in [("javascript", "atomics.js"), ("python", "threads.py"), ("ruby", "threads.rb")]:
        link(script, source(language, script))


def source(language, name):
    return os.path.join(SOURCES, language, name)


def sources(language):
    return [source(language, name) for name in sorted(os.listdir(os.path.join(SOURCES, language)))]


def link(name, to):
    os.symlink(to, name)


def make_input():
    """Makes the input of all of them in the current directory."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(5000)]
    with open("text", "w") as file:
        size = 0
        while size < 64_000_000:
            size += file.write(" ".join(chance.choices(words, k=12)) + "\n")
    run("sh", "-c", "head -c 16000000 text >half")
    genome = "".join(chance.choices("ACGT", k=2_000_000))
    with open("genome.fa", "w") as file:
        file.write(">g\n" + "\n".join(genome[at:at + 80] for at in range(0, len(genome), 80)) + "\n")
    with open("reads.fq", "w") as file:
        for number in range(60_000):
            at = chance.randrange(len(genome) - 150)
            file.write(f"@{number}\n{genome[at:at + 150]}\n+\n{'I' * 150}\n")
    with open("scene.pov", "w") as file:
        file.write(
            "camera{location <0,2,-6> look_at 0} light_source{<5,9,-9> rgb 1}\n"
            "plane{y,-1 pigment{checker rgb 1, rgb .2} finish{reflection .3}}\n"
            "#for(i,0,60) sphere{<mod(i,8)-4,floor(i/8)/2-1,mod(i*7,5)>,.4\n"
            "pigment{rgb<.2,.5,.9>} finish{reflection .4 phong .7}} #end\n"
        )
    clip = os.path.join(ROOT, "tools", "profiles", "clip.py")
    run("sh", "-c", f"python3 {clip} 640 360 120 >clip.y4m")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run("bwa", "index", "genome.fa", **quiet)
    run("sh", "-c", "bwa mem -t 2 genome.fa reads.fq >reads.sam", stderr=subprocess.DEVNULL)
