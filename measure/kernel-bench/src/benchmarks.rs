//! The benchmarks, a file each, and their registry.
//!
//! Whoever adds one writes its file, with [`getppid`] as a pattern, and its line in the registry
//! below: the name of the file, and what in it is a [`Benchmark`].

use kilocore_names::UnknownName;

use crate::Benchmark;

/// Declares the files and lists what is in them.
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
    pipe => Pipe;
    epoll => Epoll;
    sock => Sock;
    sem => Sem;
    futex => Futex;
    signal => Signal;
    empty => Empty;
    affinity => Affinity;
}

/// The benchmark of that name.
///
/// # Errors
/// [`UnknownName`] if none has it.
pub fn find(name: &str) -> Result<&'static dyn Benchmark, UnknownName> {
    let of_name = ALL.iter().copied().find(|benchmark| benchmark.info().name == name);
    of_name.ok_or_else(|| {
        UnknownName::new("benchmark", name, shown().map(|benchmark| benchmark.info().name))
    })
}

/// Those that lists show, in their order.
pub fn shown() -> impl Iterator<Item = &'static dyn Benchmark> {
    ALL.iter().copied().filter(|benchmark| !benchmark.info().hidden)
}
