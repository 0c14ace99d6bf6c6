//! Compiles the C part: the functions that must be in C because of `pthread_cancel`, and the
//! thread's storage.

fn main() {
    println!("cargo::rerun-if-changed=c/wait.c");
    cc::Build::new()
        .file("c/wait.c")
        .std("gnu11")
        .opt_level(2)
        .warnings_into_errors(true)
        // A cancelled thread unwinds from within a system call, at an instruction that the
        // exception tables of C++ do not cover. Without these tables, pthread_cleanup_push keeps a
        // jump buffer instead, which works at any instruction.
        .flag("-fno-exceptions")
        // The unwinder needs these tables to pass through the frames.
        .flag("-fasynchronous-unwind-tables")
        .flag("-fvisibility=hidden")
        .compile("kilocore_run_c");
}
