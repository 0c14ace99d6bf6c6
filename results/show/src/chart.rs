//! Line charts, as SVG.
//!
//! A [`Chart`] is laid out on a [`Frame`], from the curves of locks or from other lines, and written
//! by the template `chart.svg`, which serves the page (inside the document, styled by it) and the
//! file (with its own style and heading).

mod frame;
mod of_curves;
mod of_lines;

use std::borrow::Cow;
use std::fmt::Write;

use askama::Template;

use self::frame::Frame;
pub use self::frame::{LARGE, SMALL, Size};
use crate::Mark;
use crate::drawn::{Role, Style};

/// The least distance between the names of two curves.
const NAME_HEIGHT: f64 = 15.0;
/// How far above the highest throughput a band may stretch the axis, as a multiple.
const BAND_ROOM: f64 = 1.25;

/// A figure on an axis.
#[derive(Debug)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

/// A point of a curve.
#[derive(Debug)]
pub(crate) struct Dot {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// What hovering over it tells.
    pub(crate) title: String,
}

/// A curve as it is drawn.
#[derive(Debug)]
pub(crate) struct Series {
    pub(crate) lock: Cow<'static, str>,
    pub(crate) role: Role,
    pub(crate) style: Style,
    /// The path of its line.
    pub(crate) line: String,
    /// The path around its band; empty if it has none.
    pub(crate) band: String,
    pub(crate) dots: Vec<Dot>,
    /// What was measured, beside the curve.
    pub(crate) measured: Vec<Dot>,
    /// Whether the band shows only when pointed at: among many bands none can be seen.
    pub(crate) quiet: bool,
    /// Where its name stands.
    pub(crate) name_y: f64,
    /// Whether it is shown unless its box is ticked.
    pub(crate) shown: bool,
}

/// Text above the chart in a file of its own.
#[derive(Debug)]
pub struct Heading {
    /// What the chart is of.
    pub title: String,
    /// Where its figures come from.
    pub mark: Mark,
}

/// A chart, laid out.
#[derive(Debug, Template)]
#[template(path = "chart.svg")]
pub struct Chart {
    /// Different for each chart of a page.
    id: String,
    /// In a file of its own, the text above it.
    heading: Option<Heading>,
    /// Its figures in sentences.
    description: String,
    x_name: String,
    y_name: String,
    /// What there is a curve of each.
    by: &'static str,
    frame: Frame,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    /// The line of linear scaling, and where its name stands; the path is empty if there is none.
    reference: String,
    reference_label: (f64, f64),
    series: Vec<Series>,
}

/// Its own template has escaped it.
impl askama::filters::HtmlSafe for Chart {}

/// Charts below each other, as one SVG document.
pub(crate) fn below_each_other(
    charts: impl Iterator<Item = Chart>,
) -> Result<String, askama::Error> {
    let (mut width, mut height, mut all) = (0.0_f64, 0.0, String::new());
    for chart in charts {
        let drawn = chart.render()?;
        _ = write!(all, "<g transform=\"translate(0 {height})\">{drawn}</g>");
        width = width.max(chart.frame.width);
        height += chart.frame.height;
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">{all}</svg>\n"
    ))
}

/// The path through some places.
fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (index, (x, y)) in places.iter().enumerate() {
        _ = write!(path, "{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' });
    }
    path
}

/// The path around a band, given its upper and its lower end at each place of a line; empty if the
/// line is a single point.
fn around(highs: Vec<(f64, f64)>, lows: Vec<(f64, f64)>) -> String {
    if highs.len() < 2 {
        return String::new();
    }
    let places: Vec<(f64, f64)> = highs.into_iter().chain(lows.into_iter().rev()).collect();
    path(&places) + "Z"
}

/// Moves names apart that would stand on each other, inside the plot if there is room.
fn spread_names(series: &mut [Series], frame: &Frame) {
    // Those that are hidden at first take no room from the others.
    let mut by_height: Vec<&mut Series> = series.iter_mut().filter(|s| s.shown).collect();
    by_height.sort_by(|a, b| a.name_y.total_cmp(&b.name_y));
    let mut least = frame.top;
    for series in &mut by_height {
        series.name_y = series.name_y.max(least);
        least = series.name_y + NAME_HEIGHT;
    }
    let mut most = frame.bottom;
    for series in by_height.iter_mut().rev() {
        series.name_y = series.name_y.min(most);
        most = series.name_y - NAME_HEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, LARGE, NAME_HEIGHT, Series, path, spread_names};
    use crate::drawn::{Role, Style};

    fn named(name_y: f64) -> Series {
        let style = Style::of(0);
        let (line, band) = (String::new(), String::new());
        let (dots, measured, quiet) = (Vec::new(), Vec::new(), false);
        let (role, shown) = (Role::Other, true);
        Series {
            lock: "test".into(),
            role,
            style,
            line,
            band,
            dots,
            measured,
            quiet,
            name_y,
            shown,
        }
    }

    #[test]
    fn names_that_would_collide_are_moved_apart() {
        let mut series = [named(100.0), named(101.0), named(198.0), named(199.0)];
        let frame = Frame { top: 0.0, bottom: 200.0, ..Frame::of(LARGE, false) };
        spread_names(&mut series, &frame);
        let mut heights = series.map(|s| s.name_y);
        heights.sort_by(f64::total_cmp);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= NAME_HEIGHT - 1e-9));
        assert!(heights[3] <= 200.0);
    }

    #[test]
    fn a_path_starts_with_a_move() {
        assert_eq!(path(&[(0.0, 1.0), (2.25, 3.0)]), "M0.0 1.0L2.2 3.0");
    }
}
