//! A plan as it is written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    pub(crate) folder: Option<Spanned<String>>,
    /// Values that all commands have in common.
    #[serde(default)]
    pub(crate) with: BTreeMap<String, Spanned<Value>>,
    #[serde(default)]
    pub(crate) run: Vec<RunTable>,
    #[serde(default)]
    pub(crate) figure: Vec<FigureTable>,
    #[serde(default)]
    pub(crate) after: Vec<AfterTable>,
}

/// One `[[after]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AfterTable {
    pub(crate) command: Spanned<String>,
}

/// One `[[run]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunTable {
    pub(crate) command: Spanned<String>,
    /// A text or a list of texts.
    pub(crate) output: Option<Spanned<Value>>,
    /// Lists and ranges.
    #[serde(default)]
    pub(crate) over: BTreeMap<String, Spanned<Value>>,
    /// Values that belong together.
    #[serde(default)]
    pub(crate) each: Vec<Spanned<BTreeMap<String, Value>>>,
    #[serde(default)]
    pub(crate) skip: Vec<Spanned<BTreeMap<String, Value>>>,
    #[serde(default)]
    pub(crate) only: Vec<Spanned<BTreeMap<String, Value>>>,
}

/// One `[[figure]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FigureTable {
    /// A text or a list of texts.
    pub(crate) output: Spanned<Value>,
    pub(crate) title: Option<String>,
    pub(crate) x: Spanned<String>,
    pub(crate) y: Spanned<String>,
    /// A text or a list of texts.
    pub(crate) line: Option<Spanned<Value>>,
    /// The same.
    pub(crate) chart: Option<Spanned<Value>>,
    #[serde(default)]
    pub(crate) skip: Vec<Spanned<BTreeMap<String, Value>>>,
    #[serde(default)]
    pub(crate) only: Vec<Spanned<BTreeMap<String, Value>>>,
}

/// The line of a place in a text, counted from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count()
}
