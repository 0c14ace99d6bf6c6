//! The formats, and writing them into files.

use std::path::Path;

use kilocore_output_file::write_whole;
use serde::Serialize;

use crate::ReportError;

/// What a report may be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A page of HTML with charts and tables, which works offline.
    Html,
    /// The chart of throughput.
    Svg,
    /// A table of all points, one in each row.
    Csv,
    /// One document with all that is known of the study.
    Json,
    /// The tables, as a document of Markdown has them.
    Markdown,
}

impl Format {
    /// All formats, in the order of the variants.
    pub const ALL: [Format; 5] =
        [Format::Html, Format::Svg, Format::Csv, Format::Json, Format::Markdown];

    /// The ending of its files, without the dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Svg => "svg",
            Format::Csv => "csv",
            Format::Json => "json",
            Format::Markdown => "md",
        }
    }

    /// The format that the ending of a path asks for, in capitals or not. Ask before long work
    /// whose result would have nowhere to go.
    ///
    /// ```
    /// use std::path::Path;
    /// use kilocore_show::Format;
    ///
    /// assert_eq!(Format::of(Path::new("out/forecast.html"))?, Format::Html);
    /// let refused = Format::of(Path::new("forecast.pdf")).unwrap_err();
    /// assert!(refused.to_string().contains(".html, .svg, .csv, .json or .md"));
    /// # Ok::<(), kilocore_show::ReportError>(())
    /// ```
    ///
    /// # Errors
    /// [`ReportError::Ending`] for any other ending.
    pub fn of(path: &Path) -> Result<Self, ReportError> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        Self::ALL
            .into_iter()
            .find(|format| Some(format.ending()) == ending.as_deref())
            .ok_or_else(|| ReportError::Ending { path: path.to_owned() })
    }

    /// The endings in a sentence.
    pub(crate) fn endings() -> String {
        let [most @ .., last] = Self::ALL.map(|format| format!(".{}", format.ending()));
        format!("{} or {last}", most.join(", "))
    }
}

/// By whom, how and when a report was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Generated {
    /// The program and its version: `kilocore 0.1.0`.
    pub by: String,
    /// The command line that made it, ready to be typed again.
    pub command: String,
    /// When, in words of the caller's choice; none where the same command must give the same
    /// bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A result that can be written in every [`Format`]. The same report gives the same bytes.
pub trait Report {
    /// The page: one file that needs no other.
    ///
    /// # Errors
    /// [`ReportError::NoCurves`] for a page of nothing, [`ReportError::Layout`] if a template cannot
    /// be filled in.
    fn html(&self) -> Result<String, ReportError>;

    /// The chart that says most, as an SVG document.
    ///
    /// # Errors
    /// As [`html`](Self::html).
    fn svg(&self) -> Result<String, ReportError>;

    /// Every point as a row of CSV, below a line of names.
    ///
    /// # Errors
    /// [`ReportError::Csv`] if a figure cannot be encoded.
    fn csv(&self) -> Result<String, ReportError>;

    /// Everything as one JSON document.
    ///
    /// # Errors
    /// [`ReportError::Json`] if a figure cannot be encoded.
    fn json(&self) -> Result<String, ReportError>;

    /// What a terminal shows, as a document in Markdown.
    ///
    /// # Errors
    /// As [`html`](Self::html).
    fn markdown(&self) -> Result<String, ReportError>;

    /// The report in a format.
    ///
    /// # Errors
    /// As those of the formats.
    fn render(&self, format: Format) -> Result<String, ReportError> {
        match format {
            Format::Html => self.html(),
            Format::Svg => self.svg(),
            Format::Csv => self.csv(),
            Format::Json => self.json(),
            Format::Markdown => self.markdown(),
        }
    }
}

/// Writes a report into a file, in the format that its ending asks for.
///
/// The file appears complete; whatever had the name before is replaced in that moment, or kept if anything
/// fails. What is no regular file is written through.
///
/// # Errors
/// [`ReportError::Ending`] for an ending that names no format, [`ReportError::Write`] if the file
/// cannot be written, and as [`Report::render`].
pub fn write(path: &Path, report: &impl Report) -> Result<(), ReportError> {
    let text = report.render(Format::of(path)?)?;
    write_whole(path, &text).map_err(|cause| ReportError::Write { path: path.to_owned(), cause })
}
