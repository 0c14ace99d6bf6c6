//! Compiles the C part: what must be C to work with `pthread_cancel`, and the thread's storage.

fn main() {
    println!("cargo::rerun-if-changed=c/wait.c");
    cc::Build::new()
        .file("c/wait.c")
        .std("gnu11")
        .opt_level(2)
        .warnings_into_errors(true)
        // A cancelled thread unwinds from within a system call, at an instruction that the
        // exception tables of C++ do not cover; without them pthread_cleanup_push keeps a jump
        // buffer instead, which works from anywhere.
        .flag("-fno-exceptions")
        // The frames must be there to unwind through.
        .flag("-fasynchronous-unwind-tables")
        .flag("-fvisibility=hidden")
        .compile("kilocore_run_c");
}
