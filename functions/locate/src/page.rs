//! The page of a comparison of two profiles, and its other files.

use crate::{Amounts, Comparison, ComparisonDocument, Function, FunctionRow, Side, Uncertainty};
use askama::Template;
use kilocore_show::markdown::Document;
use kilocore_show::page_parts::{Foot, Head};
use kilocore_show::text::{printable, printable_document};
use kilocore_show::{
    Generated, Mark, Points, Provenance, Report, ReportError, Unit, in_json, number,
};

use crate::flame::Flame;
use crate::table;
use crate::words::{about_noise, per_unit, sentences, signed, threads_are};

const FLAME_STYLE: &str = include_str!("../templates/flame.css");
const FLAME_SCRIPT: &str = include_str!("../templates/flame.js");

/// Rows of a table on the page.
const MOST_ROWS: usize = 200;

/// A comparison for files.
#[derive(Debug, Clone)]
pub struct LocateReport<'a> {
    /// By whom and how.
    pub generated: Generated,
    /// What was compared: the program, or the profiles' names.
    pub title: String,
    /// The comparison that is shown.
    pub comparison: &'a Comparison,
}

#[derive(Debug)]
struct Tile {
    label: &'static str,
    figure: String,
    note: String,
}

#[derive(Debug)]
struct PageRow {
    name: String,
    object: String,
    note: &'static str,
    above_noise: bool,
    /// What to sort by, and what to show.
    cells: Vec<(f64, String)>,
}

#[derive(Debug)]
struct PageTable {
    title: &'static str,
    about: &'static str,
    inclusive: bool,
    rows: Vec<PageRow>,
    hidden: usize,
}

#[derive(Debug, Template)]
#[template(path = "locate.html")]
struct Page<'a> {
    title: &'a str,
    generated: &'a Generated,
    mark: Mark,
    sentences: Vec<String>,
    tiles: Vec<Tile>,
    scaled: Flame,
    base: Flame,
    left_out: usize,
    tables: [PageTable; 2],
    noise: String,
    warnings: Vec<String>,
}

impl<'a> Page<'a> {
    fn head(&self) -> Head<'a> {
        Head::new(self.title)
    }

    fn foot(&self) -> Foot<'a> {
        Foot { generated: self.generated }
    }
}

impl Report for LocateReport<'_> {
    fn html(&self) -> Result<String, ReportError> {
        let comparison = self.comparison;
        let (scaled, base) =
            (Flame::new(comparison, Side::Scaled), Flame::new(comparison, Side::Base));
        let page = Page {
            title: &self.title,
            generated: &self.generated,
            mark: Mark::new(Provenance::Measured, &names(comparison)),
            sentences: sentences(comparison),
            tiles: tiles(comparison),
            left_out: scaled.left_out.max(base.left_out),
            scaled,
            base,
            tables: [code(comparison), functions(comparison)],
            noise: about_noise(comparison),
            warnings: comparison.warnings.iter().map(ToString::to_string).collect(),
        };
        Ok(printable_document(&page.render()?))
    }

    /// The flame graph of the scaled side alone.
    fn svg(&self) -> Result<String, ReportError> {
        Ok(printable_document(&Flame::new(self.comparison, Side::Scaled).render()?))
    }

    /// Every function as a row.
    fn csv(&self) -> Result<String, ReportError> {
        points(self.comparison).csv()
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&ComparisonDocument::of(self.comparison))
    }

    fn markdown(&self) -> Result<String, ReportError> {
        let subject = "Two sampled profiles, compared per unit of work";
        let document = Document::new(&self.title, subject, &self.generated);
        Ok(table::markdown(self.comparison, document, MOST_ROWS))
    }
}

/// A row for each function. Figures are in the measure of the comparison, which may be any event.
fn points(comparison: &Comparison) -> Points {
    let works = comparison.works;
    let function = |row: &FunctionRow| comparison.tree.function(row.function);
    let loss = |amounts: Amounts| amounts.times().loss(works).per_unit(works);
    Points::of(Provenance::Measured, &comparison.functions)
        .each("function", Unit::Name, |row: &&FunctionRow| printable(&function(row).name))
        .each("object", Unit::Name, |row| printable(&function(row).object))
        .same("measure", Unit::Name, comparison.measure.name())
        .each("base_samples", Unit::Count, |row| row.exclusive.base.samples)
        .each("scaled_samples", Unit::Count, |row| row.exclusive.scaled.samples)
        .each("base_per_unit", Unit::Count, |row| row.exclusive.times().base_per_unit(works))
        .each("scaled_per_unit", Unit::Count, |row| row.exclusive.times().scaled_per_unit(works))
        .each("loss_per_unit", Unit::Count, |row| loss(row.exclusive))
        .each("margin_per_unit", Unit::Count, |row| row.exclusive_uncertainty.margin)
        .each("above_noise", Unit::Flag, |row| row.exclusive_uncertainty.above_noise)
        .each("inclusive_loss_per_unit", Unit::Count, |row| loss(row.inclusive))
        .each("inclusive_margin_per_unit", Unit::Count, |row| row.inclusive_uncertainty.margin)
        .build()
}

fn names(comparison: &Comparison) -> String {
    let side = |names: &[String]| names.join(", ");
    format!("{} against {}", side(&comparison.scaled.names), side(&comparison.base.names))
}

fn tiles(comparison: &Comparison) -> Vec<Tile> {
    let works = comparison.works;
    let mut tiles = Vec::new();
    if let (Some(speedup), Some(ratio)) = (comparison.speedup(), comparison.core_ratio()) {
        tiles.push(Tile {
            label: "Speedup",
            figure: number::multiple(speedup),
            note: format!("with {} as many cores", number::multiple(ratio)),
        });
    }
    tiles.push(Tile {
        label: "Loss per unit of work",
        figure: signed(comparison, comparison.total_loss().per_unit(works)),
        note: format!(
            "{} {}",
            threads_are(&comparison.measure),
            signed(comparison, comparison.busy_loss().per_unit(works))
        ),
    });
    let locks = comparison.locks;
    let share = |loss: crate::Loss| {
        let share = loss.share_of(comparison.total_loss());
        share.map_or_else(|| number::NONE.to_owned(), number::percent)
    };
    if comparison.total_loss().numerator > 0 {
        tiles.push(Tile {
            label: "Of it in locks",
            figure: share(locks.user),
            note: format!("and {} in locks of the kernel", share(locks.kernel)),
        });
    }
    tiles
}

fn code(comparison: &Comparison) -> PageTable {
    let rows = comparison.code.iter().map(|row| {
        let function = row.function.map(|function| comparison.tree.function(function));
        line(comparison, function, row.charged, row.uncertainty, None)
    });
    PageTable {
        title: "The program’s own code",
        about: "Each sample is charged to the innermost function of the program on its stack: what \
                libraries and the kernel do for it is in here.",
        inclusive: false,
        rows: rows.take(MOST_ROWS).collect(),
        hidden: comparison.code.len().saturating_sub(MOST_ROWS),
    }
}

fn functions(comparison: &Comparison) -> PageTable {
    let rows = comparison.functions.iter().map(|row| {
        let function = Some(comparison.tree.function(row.function));
        let (amounts, inclusive) = (row.exclusive, Some(row.inclusive));
        line(comparison, function, amounts, row.exclusive_uncertainty, inclusive)
    });
    PageTable {
        title: "Functions by their own time",
        about: "The function scalability value: what a function itself takes more for a unit of \
                work. The values of all of them add up to the loss that samples show.",
        inclusive: true,
        rows: rows.take(MOST_ROWS).collect(),
        hidden: comparison.functions.len().saturating_sub(MOST_ROWS),
    }
}

fn line(
    comparison: &Comparison,
    function: Option<&Function>,
    amounts: Amounts,
    uncertainty: Uncertainty,
    inclusive: Option<Amounts>,
) -> PageRow {
    let (works, times) = (comparison.works, amounts.times());
    let loss = |amounts: Amounts| amounts.times().loss(works).per_unit(works);
    let unsigned = |value: f64| (value, per_unit(comparison, value));
    let with_sign = |value: f64| (value, signed(comparison, value));
    let whole = Some(comparison.total_loss()).filter(|whole| whole.numerator > 0);
    let share = whole.and_then(|whole| times.loss(works).share_of(whole));
    let mut cells = vec![
        unsigned(times.base_per_unit(works)),
        unsigned(times.scaled_per_unit(works)),
        with_sign(loss(amounts)),
        unsigned(uncertainty.margin),
        share.map_or((0.0, number::NONE.to_owned()), |share| (share, number::percent(share))),
    ];
    cells.extend(inclusive.map(|amounts| with_sign(loss(amounts))));
    let all = inclusive.unwrap_or(amounts);
    PageRow {
        name: function.map_or_else(
            || "no code of the program".to_owned(),
            |function| printable(&function.to_string()),
        ),
        object: function.map_or_else(String::new, |f| printable(f.object_name())),
        note: if all.is_new() {
            "new"
        } else if all.has_vanished() {
            "gone"
        } else {
            ""
        },
        above_noise: uncertainty.above_noise,
        cells,
    }
}
