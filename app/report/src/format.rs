//! The formats, and writing them into files.

use std::io::Write;
use std::path::Path;

use kilocore_predict::ForecastPoint;
use serde::Serialize;

use crate::{
    CurvesReport, Document, ForecastReport, Generated, ReportError, chart_file, fit_page, page,
    spreadsheet,
};

/// What a report may be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The page.
    Html,
    /// The chart of throughput.
    Svg,
    /// The points.
    Csv,
    /// Everything.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 4] = [Format::Html, Format::Svg, Format::Csv, Format::Json];

    /// The ending of its files, without the dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Format::Html => "html",
            Format::Svg => "svg",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }

    /// The format that the ending of a path asks for, in capitals or not. Ask before long work
    /// whose result would have nowhere to go.
    ///
    /// ```
    /// use std::path::Path;
    /// use kilocore_report::Format;
    ///
    /// assert_eq!(Format::of(Path::new("out/forecast.html"))?, Format::Html);
    /// let refused = Format::of(Path::new("forecast.pdf")).unwrap_err();
    /// assert!(refused.to_string().contains(".html, .svg, .csv or .json"));
    /// # Ok::<(), kilocore_report::ReportError>(())
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

    /// The report in this format.
    ///
    /// # Errors
    /// [`ReportError::NoCurves`] for a page or chart of nothing; the errors of encoding.
    pub fn render(self, document: Document<'_>) -> Result<String, ReportError> {
        match (self, document) {
            (Format::Html, Document::Forecast(report)) => page::forecast(report),
            (Format::Html, Document::Curves(report)) => page::curves(report),
            (Format::Html, Document::Fit(report)) => fit_page::page(report),
            (Format::Svg, _) => chart_file::render(document),
            (Format::Csv, Document::Fit(report)) => spreadsheet::fit(report.outlook),
            (Format::Csv, Document::Forecast(report)) => {
                spreadsheet::render(document, &report.forecast.curves)
            }
            (Format::Csv, Document::Curves(report)) => spreadsheet::render(document, report.curves),
            (Format::Json, _) => self::json(document),
        }
    }
}

/// The page of a forecast: one file that needs no other.
///
/// # Errors
/// As [`Format::render`].
pub fn html(report: &ForecastReport<'_>) -> Result<String, ReportError> {
    Format::Html.render(report.into())
}

/// The page of curves without a program.
///
/// # Errors
/// As [`Format::render`].
pub fn curves_html(report: &CurvesReport<'_>) -> Result<String, ReportError> {
    Format::Html.render(report.into())
}

/// The chart of throughput as an SVG document.
///
/// # Errors
/// As [`Format::render`].
pub fn svg<'a>(document: impl Into<Document<'a>>) -> Result<String, ReportError> {
    Format::Svg.render(document.into())
}

/// Every point as a row of CSV, below a line of names.
///
/// # Errors
/// As [`Format::render`].
pub fn csv<'a>(document: impl Into<Document<'a>>) -> Result<String, ReportError> {
    Format::Csv.render(document.into())
}

/// The points of curves alone, as one document.
#[derive(Serialize)]
struct CurvesDocument<'a> {
    provenance: &'static str,
    machine: &'a str,
    workload: &'a str,
    seed: u64,
    generated: &'a Generated,
    points: Vec<&'a ForecastPoint>,
}

/// Everything as one JSON document: of a forecast the [`ForecastReport`], of a
/// fit the [`FitReport`](crate::FitReport), of curves alone their
/// points and what they come from. The same report gives the same bytes.
///
/// # Errors
/// [`ReportError::Json`] if a figure cannot be encoded.
pub fn json<'a>(document: impl Into<Document<'a>>) -> Result<String, ReportError> {
    let mut text = match document.into() {
        Document::Forecast(report) => serde_json::to_string_pretty(report)?,
        Document::Fit(report) => serde_json::to_string_pretty(report)?,
        document @ Document::Curves(report) => serde_json::to_string_pretty(&CurvesDocument {
            provenance: document.simulated().kind.name(),
            machine: &report.machine.name,
            workload: &report.workload,
            seed: report.seed,
            generated: &report.generated,
            points: report.curves.iter().flat_map(|curve| &curve.points).collect(),
        })?,
    };
    text.push('\n');
    Ok(text)
}

/// Writes a report into a file, in the format that its ending asks for.
///
/// The file appears complete, under a temporary name in the same directory first; whatever had
/// the name before is replaced in that moment, or kept if anything fails.
///
/// # Errors
/// [`ReportError::Ending`] for an ending that names no format, [`ReportError::Write`] if the file
/// cannot be written, and as [`Format::render`].
pub fn write<'a>(path: &Path, document: impl Into<Document<'a>>) -> Result<(), ReportError> {
    let text = Format::of(path)?.render(document.into())?;
    write_whole(path, &text).map_err(|cause| ReportError::Write { path: path.to_owned(), cause })
}

/// Writes a file that appears complete or not at all, as [`write()`] does, whatever it holds.
///
/// # Errors
/// What the system said; then the file is as it was before.
pub fn write_whole(path: &Path, text: &str) -> std::io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = new_file(directory)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

/// A temporary file that, unlike most, everybody may read who may read new files: it is the
/// file itself once it has its name.
fn new_file(directory: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".kilocore-report-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The process's mask is taken off by the system.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(directory)
}
