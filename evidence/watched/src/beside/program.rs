//! The real programs, and the fixed work that each does.

use std::path::{Path, PathBuf};

/// A program of Debian's that takes pthread locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RealProgram {
    /// What it is called here.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// The package that it comes from.
    package: &'static str,
    /// The program and its arguments. `{folder}` is a folder of its own, `{port}` a free port.
    command: &'static [&'static str],
    /// What has to be done once, before the first run.
    prepare: &'static [&'static str],
    /// Who gives it work, and the package of that, if it is a server.
    client: Option<Client>,
}

/// Who gives a server work, and ends when that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Client {
    package: &'static str,
    /// Ends with success as soon as the server answers.
    asks: &'static [&'static str],
    command: &'static [&'static str],
    /// A file in the program's folder, `load`, that says what to do.
    load: &'static str,
}

const PROGRAMS: [RealProgram; 5] = [
    RealProgram {
        name: "kccachetest",
        what: "Kyoto Cabinet's cache database: two threads set, get and remove two million records",
        package: "kyotocabinet-utils",
        command: &["kccachetest", "order", "-th", "2", "2000000"],
        prepare: &[],
        client: None,
    },
    RealProgram {
        name: "sysbench mutex",
        what: "two threads take one mutex ten million times each, and count to 500 in between",
        package: "sysbench",
        command: &[
            "sysbench",
            "mutex",
            "--threads=2",
            "--mutex-num=1",
            "--mutex-locks=10000000",
            "--mutex-loops=500",
            "run",
        ],
        prepare: &[],
        client: None,
    },
    RealProgram {
        name: "sysbench threads",
        what: "three threads take two mutexes in turn, and yield their core while they hold one",
        package: "sysbench",
        command: &[
            "sysbench",
            "threads",
            "--threads=3",
            "--thread-locks=2",
            "--events=2000",
            "--time=0",
            "run",
        ],
        prepare: &[],
        client: None,
    },
    RealProgram {
        name: "memcached",
        what: "four workers under memcaslap: half a million requests, one in ten stores",
        package: "memcached",
        command: &[
            "memcached",
            "-u",
            "nobody",
            "-U",
            "0",
            "-l",
            "127.0.0.1",
            "-p",
            "{port}",
            "-t",
            "4",
            "-m",
            "512",
        ],
        prepare: &[],
        client: Some(Client {
            package: "libmemcached-tools",
            asks: &["memcping", "--servers=127.0.0.1:{port}"],
            command: &[
                "memcaslap",
                "-s",
                "127.0.0.1:{port}",
                "-T",
                "2",
                "-c",
                "64",
                "-x",
                "500000",
                "-F",
                "{folder}/load",
            ],
            load: "key\n16 16 1\nvalue\n64 64 1\ncmd\n0 0.1\n1 0.9\n",
        }),
    },
    RealProgram {
        name: "RocksDB",
        what: "db_bench: four threads read at random, through a block cache with one shard",
        package: "rocksdb-tools",
        command: &[
            "db_bench",
            "--db={folder}/db",
            "--use_existing_db=1",
            "--benchmarks=readrandom",
            "--threads=4",
            "--num=1000000",
            "--reads=300000",
            "--compression_type=none",
            "--cache_size=1000000000",
            "--cache_numshardbits=0",
        ],
        prepare: &[
            "db_bench",
            "--db={folder}/db",
            "--benchmarks=fillseq",
            "--num=1000000",
            "--compression_type=none",
            "--disable_wal",
        ],
        client: None,
    },
];

impl RealProgram {
    /// All programs that are compared, in the order of the page.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &PROGRAMS
    }

    /// The packages whose programs are not on the path.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let own = (self.command, self.package);
        let client = self.client.map(|client| (client.command, client.package));
        let needed = [Some(own), client].into_iter().flatten();
        let lacks = |command: &[&str]| command.first().is_some_and(|name| on_path(name).is_none());
        needed.filter(|(command, _)| lacks(command)).map(|(_, package)| package).collect()
    }

    /// The program and its arguments.
    #[must_use]
    pub fn command(&self, folder: &Path, port: u16) -> Vec<String> {
        filled(self.command, folder, port)
    }

    /// What has to be done before the first run; nothing if that is empty.
    #[must_use]
    pub fn preparation(&self, folder: &Path) -> Vec<String> {
        filled(self.prepare, folder, 0)
    }

    /// How to ask whether the server answers, what gives it work, and the file that says which, if
    /// it is a server.
    #[must_use]
    pub fn client(&self, folder: &Path, port: u16) -> Option<(Vec<String>, Vec<String>, &str)> {
        let client = self.client?;
        let [asks, works] =
            [client.asks, client.command].map(|command| filled(command, folder, port));
        Some((asks, works, client.load))
    }
}

fn filled(command: &[&str], folder: &Path, port: u16) -> Vec<String> {
    let fill = |word: &&str| {
        word.replace("{folder}", &folder.to_string_lossy()).replace("{port}", &port.to_string())
    };
    command.iter().map(fill).collect()
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}
