//! Names without decoration: one spelling for what compilers and versions write differently.

use std::borrow::Cow;

/// Endings of functions that a compiler made out of others.
const MADE: &[&str] =
    &[".part.", ".cold", ".isra.", ".constprop.", ".lto_priv.", ".llvm.", ".localalias", ".abi0"];

/// Parts of C++ names that only tell versions apart, and that programmers do not write.
const VERSIONS: &[&str] = &["__1", "__2", "__cxx11", "_V2", "__detail", "__ndk1"];

/// Returns a function's name without parameters, type arguments, return type, versions and hashes.
/// Of C functions, leading underscores are taken off too, and of `__GI_` the whole.
pub(super) fn plain(name: &str) -> String {
    let name = name.trim();
    let name = MADE.iter().fold(name, |name, made| name.split_once(made).map_or(name, |cut| cut.0));
    let is_c_or_go = !name.contains("::") && !name.contains(['(', '<', ' ', '[', ';']);
    if is_c_or_go {
        let name = name.split('@').next().unwrap_or(name);
        let name = name.strip_prefix("__GI_").unwrap_or(name);
        return name.trim_start_matches('_').to_owned();
    }
    // A method in Go has its receiver in parentheses.
    if name.contains(".(*") || name.contains("[...]") {
        return name.replace("[...]", "");
    }
    let name = java(name);
    let name = name.replace("(anonymous namespace)::", "");
    let bare = without_brackets(&receiver(&name));
    let bare = bare.trim().trim_end_matches(" const");
    // What is left before a space is the return type.
    let bare = bare.rsplit(' ').next().unwrap_or(bare);
    let parts: Vec<&str> = bare.split("::").filter(|part| !is_version(part)).collect();
    match parts.as_slice() {
        // A C function whose debugging information has its parameters.
        [one] => one.trim_start_matches('_').to_owned(),
        _ => parts.join("::"),
    }
}

/// Whether a part of a path tells only versions apart: `__1`, `lts_20220623`, `debian3`, `h0123456789abcdef`.
fn is_version(part: &str) -> bool {
    let is_hash = part.len() == 17
        && part.strip_prefix('h').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_hexdigit()));
    // Debian's build of absl has a version of its own.
    let of_debian = part.strip_prefix("debian").is_some_and(|number| number.parse::<u32>().is_ok());
    is_hash || VERSIONS.contains(&part) || part.starts_with("lts_") || of_debian
}

/// The name of a method as Java writes it: `java.lang.Object.wait` for `Ljava/lang/Object;::wait`.
fn java(name: &str) -> Cow<'_, str> {
    let parts = name.strip_prefix('L').and_then(|rest| rest.split_once(";::"));
    match parts {
        Some((class, method)) => Cow::Owned(format!("{}.{method}", class.replace('/', "."))),
        None => Cow::Borrowed(name),
    }
}

/// `<T>::f` and `<T as Trait>::f` are functions of `T`.
fn receiver(name: &str) -> String {
    let Some(rest) = name.strip_prefix('<') else { return name.to_owned() };
    let mut depth = 1_usize;
    let mut before = ' ';
    for (at, letter) in rest.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let inside = &rest[..at];
            let of = inside.split(" as ").next().unwrap_or(inside);
            return format!("{}{}", of.trim_start_matches(['&', '*']), &rest[at + 1..]);
        }
        before = letter;
    }
    name.to_owned()
}

/// Takes out whatever stands in brackets. `operator()` and its like lose theirs too.
fn without_brackets(name: &str) -> String {
    let mut bare = String::new();
    let mut depth = 0_usize;
    let mut before = ' ';
    for letter in name.chars() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => bare.push(letter),
            _ => {}
        }
        before = letter;
    }
    // `Channel::<T>::recv` leaves an empty part.
    bare.replace("::::", "::")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_function_has_one_name() {
        for (name, expected) in [
            ("__GI___lll_lock_wait", "lll_lock_wait"),
            ("___pthread_mutex_lock", "pthread_mutex_lock"),
            ("pthread_cond_wait@@GLIBC_2.3.2", "pthread_cond_wait"),
            ("gomp_mutex_lock_slow.part.0", "gomp_mutex_lock_slow"),
            ("runtime.futex.abi0", "runtime.futex"),
            ("sync.(*Mutex).lockSlow", "sync.(*Mutex).lockSlow"),
            ("void std::__detail::__platform_wait<int>(int const*, int)", "std::__platform_wait"),
            (
                "<std::sys::sync::mutex::futex::Mutex>::lock_contended",
                "std::sys::sync::mutex::futex::Mutex::lock_contended",
            ),
            (
                "parking_lot::raw_mutex::RawMutex::lock_slow::he5c5562c6ac6691f",
                "parking_lot::raw_mutex::RawMutex::lock_slow",
            ),
            (
                "<rayon_core::job::StackJob<L,F,R> as rayon_core::job::Job>::execute",
                "rayon_core::job::StackJob::execute",
            ),
            ("std::sync::mpmc::list::Channel<T>::recv", "std::sync::mpmc::list::Channel::recv"),
            ("absl::debian3::Mutex::LockSlow(int)", "absl::Mutex::LockSlow"),
            ("absl::lts_20220623::Mutex::Block(absl::PerThreadSynch*)", "absl::Mutex::Block"),
            ("std::__1::mutex::lock()", "std::mutex::lock"),
            ("__gthread_once(int*, void (*)())", "gthread_once"),
            (
                "void java.util.concurrent.locks.LockSupport.park(java.lang.Object)",
                "java.util.concurrent.locks.LockSupport.park",
            ),
            ("Ljava/lang/Object;::wait", "java.lang.Object.wait"),
            ("WatcherThread::sleep() const", "WatcherThread::sleep"),
            ("(anonymous namespace)::Pool::wait(int)", "Pool::wait"),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_plain_name(name in "[<>()a-zé:. _*&-]{0,60}", other in any::<String>()) {
            let _ = (plain(&name), plain(&other));
        }
    }
}
