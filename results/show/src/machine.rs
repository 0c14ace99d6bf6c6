//! A machine as it is shown: every figure of it in words, with where it comes from.

use askama::Template;

use crate::Mark;

/// A machine that something was simulated on. As a template it is the section of a page.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "machine.html")]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// What it is.
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
    /// The figures.
    pub rows: Vec<FigureRow>,
}

/// A figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FigureRow {
    /// What it is.
    pub name: &'static str,
    /// With its unit.
    pub value: String,
    /// Where it comes from.
    pub mark: Mark,
}
