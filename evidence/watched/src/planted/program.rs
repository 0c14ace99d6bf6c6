//! Which programs there are, and what each needs to be built.

use std::fmt;

/// The language of a program, or its way of making threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    C,
    Cpp,
    Go,
    Java,
    OpenMp,
    Python,
    Rust,
}

impl Language {
    /// Returns what the programs themselves call it.
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "c++",
            Language::Go => "go",
            Language::Java => "java",
            Language::OpenMp => "openmp",
            Language::Python => "python",
            Language::Rust => "rust",
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A file that a build or a run needs, and the Debian package that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Need {
    pub(crate) file: &'static str,
    pub(crate) package: &'static str,
}

const fn need(file: &'static str, package: &'static str) -> Need {
    Need { file, package }
}

const LIBC: Need = need("/usr/include/pthread.h", "libc6-dev");
const GCC: &[Need] = &[need("/usr/bin/gcc", "gcc"), LIBC];
const MUSL: &[Need] = &[need("/usr/bin/musl-gcc", "musl-tools"), need("/usr/bin/gcc", "gcc")];
const GPP: &[Need] = &[need("/usr/bin/g++", "g++"), LIBC];
const ABSEIL: &[Need] = &[
    need("/usr/bin/g++", "g++"),
    need("/usr/include/absl/synchronization/mutex.h", "libabsl-dev"),
];
const GO: &[Need] = &[need("/usr/bin/go", "golang-go")];
const JAVA: &[Need] = &[
    need("/usr/bin/javac", "default-jdk-headless"),
    need("/usr/bin/java", "default-jdk-headless"),
];
const PYTHON: &[Need] = &[need("/usr/bin/python3", "python3")];

/// How a program becomes one that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// A compiler makes the first source an executable file, with these words besides.
    Compiler { compiler: &'static str, words: &'static [&'static str] },
    /// Go makes one of all sources.
    Go,
    /// Java's compiler makes classes of all sources; this one has the method `main`.
    Java { class: &'static str },
    /// Cargo builds the example of the program's name.
    Cargo,
    /// An interpreter runs the source as it is.
    Interpreter(&'static str),
}

const fn compiler(compiler: &'static str, words: &'static [&'static str]) -> Recipe {
    Recipe::Compiler { compiler, words }
}

const C: Recipe = compiler("/usr/bin/gcc", &["-std=gnu11"]);
const STATIC_MUSL: Recipe = compiler("/usr/bin/musl-gcc", &["-std=gnu11", "-static"]);
const CPP: Recipe = compiler("/usr/bin/g++", &["-std=c++20"]);
const CPP_ABSEIL: Recipe = compiler("/usr/bin/g++", &["-std=c++20", "-labsl_synchronization"]);
const OPENMP: Recipe = compiler("/usr/bin/g++", &["-std=c++20", "-fopenmp"]);

/// A program that can be planted.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    name: &'static str,
    language: Language,
    pub(crate) recipe: Recipe,
    pub(crate) needs: &'static [Need],
    /// Below `programs/`; the program's own file comes first.
    pub(crate) sources: &'static [&'static str],
}

const fn program(
    name: &'static str,
    language: Language,
    recipe: Recipe,
    needs: &'static [Need],
    sources: &'static [&'static str],
) -> Program {
    Program { name, language, recipe, needs, sources }
}

macro_rules! with_header {
    ($source:literal) => {
        &[$source, "c/planted.h"]
    };
}

macro_rules! with_go {
    ($source:literal) => {
        &[$source, "go/planted.go"]
    };
}

/// All programs, sorted by name.
static ALL: [Program; 27] = [
    program("c-barrier", Language::C, C, GCC, with_header!("c/barrier.c")),
    program("c-kernel-lock", Language::C, C, GCC, with_header!("c/kernel_lock.c")),
    program("c-mutex", Language::C, C, GCC, with_header!("c/mutex.c")),
    program("c-mutex-musl", Language::C, STATIC_MUSL, MUSL, with_header!("c/mutex.c")),
    program("c-one-busy", Language::C, C, GCC, with_header!("c/one_busy.c")),
    program("c-pipeline", Language::C, C, GCC, with_header!("c/pipeline.c")),
    program("c-queue", Language::C, C, GCC, with_header!("c/queue.c")),
    program("c-rwlock", Language::C, C, GCC, with_header!("c/rwlock.c")),
    program("c-semaphore", Language::C, C, GCC, with_header!("c/semaphore.c")),
    program("c-spinlock", Language::C, C, GCC, with_header!("c/spinlock.c")),
    program("c-two-processes", Language::C, C, GCC, with_header!("c/two_processes.c")),
    program("c-uncontended", Language::C, C, GCC, with_header!("c/uncontended.c")),
    program(
        "cpp-absl-mutex",
        Language::Cpp,
        CPP_ABSEIL,
        ABSEIL,
        with_header!("cpp/absl_mutex.cpp"),
    ),
    program("cpp-atomic-wait", Language::Cpp, CPP, GPP, with_header!("cpp/atomic_wait.cpp")),
    program("cpp-mutex", Language::Cpp, CPP, GPP, with_header!("cpp/mutex.cpp")),
    program("go-channel", Language::Go, Recipe::Go, GO, with_go!("go/channel.go")),
    program("go-channel-lock", Language::Go, Recipe::Go, GO, with_go!("go/channel_lock.go")),
    program("go-mutex", Language::Go, Recipe::Go, GO, with_go!("go/mutex.go")),
    program("go-rwmutex", Language::Go, Recipe::Go, GO, with_go!("go/rwmutex.go")),
    program(
        "java-reentrant",
        Language::Java,
        Recipe::Java { class: "Reentrant" },
        JAVA,
        &["java/Reentrant.java", "java/Planted.java"],
    ),
    program(
        "java-synchronized",
        Language::Java,
        Recipe::Java { class: "Synchronized" },
        JAVA,
        &["java/Synchronized.java", "java/Planted.java"],
    ),
    program("openmp-barrier", Language::OpenMp, OPENMP, GPP, with_header!("openmp/barrier.cpp")),
    program("openmp-critical", Language::OpenMp, OPENMP, GPP, with_header!("openmp/critical.cpp")),
    program(
        "python-gil",
        Language::Python,
        Recipe::Interpreter("/usr/bin/python3"),
        PYTHON,
        &["python/gil.py"],
    ),
    program("rust-parking-lot", Language::Rust, Recipe::Cargo, &[], &["rust/parking_lot_mutex.rs"]),
    program("rust-spin-lock", Language::Rust, Recipe::Cargo, &[], &["rust/spin_lock.rs"]),
    program("rust-std-mutex", Language::Rust, Recipe::Cargo, &[], &["rust/std_mutex.rs"]),
];

impl Program {
    /// Returns all programs, sorted by name.
    pub fn all() -> &'static [Program] {
        &ALL
    }

    /// Returns the program of a name.
    pub fn named(name: &str) -> Option<&'static Program> {
        ALL.iter().find(|program| program.name == name)
    }

    /// Returns the program's name, as in `c-mutex`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the program's language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the Debian packages that building and running the program need, sorted. Those in Rust
    /// need none: who builds this crate can build them.
    pub fn packages(&self) -> Vec<&'static str> {
        let mut packages: Vec<_> = self.needs.iter().map(|need| need.package).collect();
        packages.sort_unstable();
        packages.dedup();
        packages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_sorted_and_their_names_begin_with_their_language() {
        assert!(ALL.is_sorted_by(|a, b| a.name < b.name));
        for program in &ALL {
            let language = program.language.name().replace("++", "pp");
            assert!(program.name.starts_with(&format!("{language}-")), "{}", program.name);
        }
    }
}
