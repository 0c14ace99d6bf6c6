//! The benchmarks, each in a file of its own, and their registry.
//!
//! To add a benchmark, write its file, with [`getppid`] as a pattern, and add a line to the
//! registry below. The line has the name of the file and the types in it that are a [`Benchmark`].

use kilocore_machine::names::UnknownName;

use crate::Benchmark;

/// Declares the modules and lists the benchmarks in them.
macro_rules! registry {
    ($($(#[$about:meta])* $file:ident => $($name:ident),+;)*) => {
        $($(#[$about])* mod $file;)*
        /// All benchmarks, in the order in which they are listed and run.
        pub static ALL: &[&dyn Benchmark] = &[$($(&$file::$name),+),*];
    };
}

registry! {
    getppid => Getppid;
    fork => Fork;
    exec => Exec;
    thread => Thread;
    mmap => Mmap;
    page_fault => Private, OfFile;
    brk => Brk;
    malloc => Malloc;
    dup => Dup;
    open => Together, Apart;
    unlink => Unlink;
    write => Sequential, Random;
    pool => Sequential, Random;
    pipe => Pipe;
    epoll => Epoll;
    sock => Sock;
    sem => Sem;
    futex => Futex;
    signal => Signal;
    empty => Empty;
    affinity => Affinity;
}

/// Returns the benchmark of that name.
///
/// # Errors
/// [`UnknownName`] if no benchmark has that name.
pub fn find(name: &str) -> Result<&'static dyn Benchmark, UnknownName> {
    let of_name = ALL.iter().copied().find(|benchmark| benchmark.info().name == name);
    of_name.ok_or_else(|| {
        UnknownName::new("benchmark", name, shown().map(|benchmark| benchmark.info().name))
    })
}

/// Returns the benchmarks that are not hidden, in the order of [`ALL`].
pub fn shown() -> impl Iterator<Item = &'static dyn Benchmark> {
    ALL.iter().copied().filter(|benchmark| !benchmark.info().hidden)
}
