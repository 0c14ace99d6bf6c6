//! The rows of the tables, and how a name is found in them.
//!
//! A pattern is a name without the decoration that is taken off first. A `*` in it stands for any
//! letters, or none. What follows a `~` has to be somewhere in the decoration. After `=` stands a
//! name as it is, decoration and all, for names that say too little without.

use super::kind::WaitKind;

/// A function that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WaitingFunction {
    pub(super) kind: WaitKind,
    pub(super) what: &'static str,
    /// Nothing outside changes what is waited for.
    pub(super) decides: bool,
    /// The word slept on is the thread's own.
    pub(super) parks: bool,
    /// Whatever is outside says more.
    pub(super) is_vague: bool,
}

/// What a function means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FunctionMeaning {
    /// The function waits for what the row says.
    Waits(WaitingFunction),
    /// It is part of a library.
    Library,
}

/// A pattern and what the functions that fit it mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) pattern: &'static str,
    pub(super) meaning: FunctionMeaning,
}

impl Entry {
    /// The same, but any row of an outer function says more, even that there is no work.
    pub(super) const fn vaguely(mut self) -> Self {
        if let FunctionMeaning::Waits(row) = &mut self.meaning {
            row.is_vague = true;
        }
        self
    }

    /// The same, on a word of the waiting thread's own.
    pub(super) const fn parks(mut self) -> Self {
        if let FunctionMeaning::Waits(row) = &mut self.meaning {
            row.parks = true;
        }
        self
    }
}

/// Functions that wait, unless something outside them says more.
pub(super) const fn wait(pattern: &'static str, kind: WaitKind, what: &'static str) -> Entry {
    let row = WaitingFunction { kind, what, decides: false, parks: false, is_vague: false };
    Entry { pattern, meaning: FunctionMeaning::Waits(row) }
}

/// Functions that wait, whatever is outside them.
pub(super) const fn decisive(pattern: &'static str, kind: WaitKind, what: &'static str) -> Entry {
    let row = WaitingFunction { kind, what, decides: true, parks: false, is_vague: false };
    Entry { pattern, meaning: FunctionMeaning::Waits(row) }
}

/// Functions that wait on a word of the waiting thread's own, unless something outside says more.
pub(super) const fn parked(pattern: &'static str, kind: WaitKind, what: &'static str) -> Entry {
    wait(pattern, kind, what).parks()
}

/// Functions that mean nothing by themselves.
pub(super) const fn library(pattern: &'static str) -> Entry {
    Entry { pattern, meaning: FunctionMeaning::Library }
}

/// A table, and the files whose functions are meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    /// How the files' names begin; an empty one is that of generated code. If there are none, the
    /// names of functions are enough.
    files: &'static [&'static str],
    entries: &'static [Entry],
}

impl Table {
    /// A table for functions of all files.
    pub(super) const fn of_all(entries: &'static [Entry]) -> Self {
        Self { files: &[], entries }
    }

    /// A table for functions whose names others have too.
    pub(super) const fn of(files: &'static [&'static str], entries: &'static [Entry]) -> Self {
        Self { files, entries }
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> &'static [Entry] {
        self.entries
    }

    /// Returns whether it is for a file.
    pub(super) fn is_for(&self, base: &str) -> bool {
        let is_of = |file: &str| base.starts_with(file) && base.is_empty() == file.is_empty();
        self.files.is_empty() || self.files.iter().copied().any(is_of)
    }
}

/// Returns what tables say of a name. The first row that waits counts, and else any.
pub(super) fn find<'a>(
    tables: impl Iterator<Item = &'a Table>,
    name: &str,
    plain: &str,
) -> Option<FunctionMeaning> {
    let mut is_known = false;
    for entry in tables.flat_map(|table| table.entries) {
        if !fits(entry.pattern, name, plain) {
            continue;
        }
        if let FunctionMeaning::Waits(_) = entry.meaning {
            return Some(entry.meaning);
        }
        is_known = true;
    }
    is_known.then_some(FunctionMeaning::Library)
}

fn fits(pattern: &str, name: &str, plain: &str) -> bool {
    if let Some(exact) = pattern.strip_prefix('=') {
        return exact == name;
    }
    if let Some((pattern, part)) = pattern.split_once('~') {
        return name.contains(part) && fits(pattern, name, plain);
    }
    let Some((begin, rest)) = pattern.split_once('*') else { return plain == pattern };
    let Some(mut left) = plain.strip_prefix(begin) else { return false };
    // The parts between stars are taken where they come first; the last one has to end the name.
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return left.ends_with(part);
        }
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_what_they_say() {
        assert!(fits("lock", "__lock", "lock") && !fits("lock", "locks", "locks"));
        assert!(fits("lock*", "locks", "locks") && !fits("lock*", "unlock", "unlock"));
        assert!(fits("*lock", "unlock", "unlock") && !fits("*lock", "locks", "locks"));
        assert!(fits("*lock*", "unlocks", "unlocks"));
        assert!(
            fits("cond_*wait*", "", "cond_timedwait64") && fits("cond_*wait*", "", "cond_wait")
        );
        assert!(!fits("cond_*wait*", "", "cond_signal") && !fits("a*b*c", "", "acb"));
        assert!(fits("wait*~Latch", "wait_for<Latch>", "wait_for"));
        assert!(!fits("wait*~Latch", "wait_for<Gate>", "wait_for"));
        assert!(fits("=__lock", "__lock", "lock") && !fits("=__lock", "lock", "lock"));
    }
}
