//! Whether what was computed is kept for the next time.

/// If this variable is set and not empty, nothing is.
const NO_CACHE: &str = "KILOCORE_NO_CACHE";

/// Whether it is, unless `--no-cache` says otherwise.
pub(crate) fn keeps(no_cache: bool) -> bool {
    let told = std::env::var_os(NO_CACHE).is_some_and(|value| !value.is_empty());
    !no_cache && !told
}
