//! A machine as it is shown: every figure of it in words, with where it comes from.

use askama::Template;

use crate::Mark;

/// A machine that something was simulated on. As a template it is the section of a page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "machine.html")]
pub struct Machine {
    /// The name of the machine file.
    pub name: String,
    /// What the machine is, in a few words: its processors.
    pub title: String,
    /// Its figures. Without any, a page does not show them.
    pub groups: Vec<FigureGroup>,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for Machine {}

/// Figures that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureGroup {
    /// What they are of.
    pub title: &'static str,
    /// The figures of the group, one in each row.
    pub rows: Vec<FigureRow>,
}

/// A figure of a machine file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureRow {
    /// What the figure is of.
    pub name: &'static str,
    /// The figure as text, with its unit.
    pub value: String,
    /// Where it comes from.
    pub mark: Mark,
}
