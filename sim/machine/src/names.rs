//! Things that are looked up by name, and what to say of a name that none of them has.
//!
//! Machines, schemes, workloads, benchmarks and the command line's locks are registries, each in its
//! own crate. What they share is here, so that a mistyped name is answered alike wherever it stands.
//!
//! ```
//! let fruits = [("apple", 1), ("cherry", 2)];
//! assert_eq!(kilocore_machine::names::find("fruit", "apple", fruits), Ok(1));
//! let unknown = kilocore_machine::names::find("fruit", "chery", fruits).unwrap_err();
//! assert_eq!(
//!     unknown.to_string(),
//!     "unknown fruit `chery`; did you mean `cherry`? Known are apple, cherry"
//! );
//! ```

use thiserror::Error;

/// No thing of this kind has the name that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown {kind} `{name}`; {}nown are {}", question(*nearest), known.join(", "))]
pub struct UnknownName {
    kind: &'static str,
    name: String,
    nearest: Option<&'static str>,
    known: Vec<&'static str>,
}

/// What stands before `nown`.
fn question(nearest: Option<&str>) -> String {
    nearest.map_or_else(|| "k".to_owned(), |near| format!("did you mean `{near}`? K"))
}

impl UnknownName {
    /// The answer to `name`, where things of this kind have the names `known`.
    pub fn new(
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        let nearest = nearest(name, known.iter().copied());
        Self { kind, name: name.to_owned(), nearest, known }
    }

    /// The same, where things are also known by names that are too many to list.
    #[must_use]
    pub fn also_called(mut self, aliases: impl IntoIterator<Item = &'static str>) -> Self {
        self.nearest = nearest(&self.name, self.known.iter().copied().chain(aliases));
        self
    }
}

/// The thing of that name among those that are known.
///
/// # Errors
/// [`UnknownName`] if none has it.
pub fn find<T>(
    kind: &'static str,
    name: &str,
    known: impl IntoIterator<Item = (&'static str, T)>,
) -> Result<T, UnknownName> {
    let mut names = Vec::new();
    for (known, thing) in known {
        if known == name {
            return Ok(thing);
        }
        names.push(known);
    }
    Err(UnknownName::new(kind, name, names))
}

/// The longest word that is compared; the bound keeps the work small whatever is typed.
const LONGEST: usize = 64;

/// The known word with the fewest slips to `word`, if it shares more with it than chance would.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let wanted: String = word.to_lowercase().chars().take(LONGEST).collect();
    known
        .into_iter()
        .map(|word| (strsim::osa_distance(&wanted, word), word))
        .min()
        .filter(|&(slips, word)| slips * 2 <= word.len())
        .map(|(_, word)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_nonsense_finds_none() {
        let known = ["knl-7210", "core-i7-6700"];
        assert_eq!(nearest("KNL-7201", known), Some("knl-7210"));
        assert_eq!(nearest("core-i7", known), Some("core-i7-6700"));
        assert_eq!(nearest("sparc", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(nearest(&"knl".repeat(1 << 20), known), None);
    }

    #[test]
    fn what_is_like_nothing_gets_the_list_alone() {
        let unknown = UnknownName::new("lock", "nosuch", ["mcs", "tas"]);
        assert_eq!(unknown.to_string(), "unknown lock `nosuch`; known are mcs, tas");
        let near = unknown.also_called(["no_such"]).to_string();
        assert_eq!(near, "unknown lock `nosuch`; did you mean `no_such`? Known are mcs, tas");
    }
}
