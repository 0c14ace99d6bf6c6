//! Where figures come from, said beside them.

use askama::Template;
use kilocore_figures::Provenance;

use crate::text::printable;

/// The mark that a chart or table carries: the kind of its figures, and of what they are.
///
/// As a template it is the mark in HTML.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(
    source = r#"<span class="mark {{ kind.name() }}">{{ kind.name() }}</span>{% if !of.is_empty() %} <span class="of">{{ of }}</span>{% endif %}"#,
    ext = "html"
)]
pub struct Mark {
    /// What kind of figure is marked.
    pub kind: Provenance,
    /// Of what: a host, a machine file and a seed, a publication. May be empty.
    pub of: String,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for Mark {}

impl Mark {
    /// Makes a mark. Characters of `of` that cannot be printed are replaced.
    #[must_use]
    pub fn new(kind: Provenance, of: &str) -> Self {
        Self { kind, of: printable(of) }
    }

    /// The mark of simulations on a machine.
    #[must_use]
    pub fn simulated(machine: &str, seed: u64) -> Self {
        Self::new(Provenance::Simulated, &format!("on machine {machine}, seed {seed}"))
    }

    /// As plain text: `simulated on machine m, seed 1`.
    #[must_use]
    pub fn plain(&self) -> String {
        format!("{} {}", self.kind.name(), self.of).trim_end().to_owned()
    }
}
