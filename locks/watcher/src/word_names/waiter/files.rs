//! Files all of whose functions belong to libraries.

/// The last part of a path.
pub(super) fn base(module: &str) -> &str {
    module.rsplit('/').next().unwrap_or(module)
}

/// Returns whether a file is Python's interpreter, which may be linked into one with its library.
pub(super) fn is_interpreter(base: &str) -> bool {
    let version = base.strip_prefix("python").map(|rest| rest.split('-').next().unwrap_or(rest));
    version.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == 'm'))
}

/// Returns whether all functions of a file belong to a library that synchronizes or to a runtime, so
/// that none of them is of the user's program.
pub(super) fn is_library(base: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "ld-linux",
        "ld-musl",
        "libabsl",
        "libasan.so",
        "libc++",
        "libc-2",
        "libc.musl",
        "libc.so",
        "libgomp",
        "libiomp",
        "libjemalloc",
        "libjvm.so",
        "libkilocore_measure.so",
        "libkilocore_pages.so",
        "libkilocore_run.so",
        "libmimalloc",
        "libomp.so",
        "libpthread",
        "libpython",
        "librt-",
        "librt.so",
        "libstdc++",
        "libtbb",
        "libtcmalloc",
        "libtsan.so",
        "libuv.so",
        "[vdso]",
    ];
    BEGINNINGS.iter().any(|begin| base.starts_with(begin)) || is_interpreter(base)
}
