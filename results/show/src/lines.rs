//! A chart of lines that are no forecasts of locks: whatever an experiment compares, against
//! whatever it varies.

use std::borrow::Cow;

use askama::Template;

use crate::chart::{self, Chart};
use crate::text::printable_document;
use crate::{Mark, ReportError, number};

/// What lines run across.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Across {
    /// Numbers of cores, from 0.
    Cores,
    /// Numbers of hardware threads, from 0.
    Threads,
    /// Percentages of this, from the lowest.
    Percent(&'static str),
    /// Numbers of this, above 0: equal ratios are equally long.
    Ratios(&'static str),
    /// Numbers of this, from the lowest.
    Numbers(String),
}

impl Across {
    /// What the axis is labelled.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Cores => "cores".to_owned(),
            Self::Threads => "threads".to_owned(),
            Self::Percent(of) => format!("% {of}"),
            Self::Ratios(of) => (*of).to_owned(),
            Self::Numbers(of) => of.clone(),
        }
    }
}

/// A line of a chart, with what is drawn about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it is of.
    pub name: Cow<'static, str>,
    /// Its points from left to right: where, and how high.
    pub points: Vec<(f64, f64)>,
    /// The lower and the upper end of a band at each point; empty for none.
    pub band: Vec<(f64, f64)>,
    /// A point with a ring around it, and why it has one.
    pub ring: Option<(f64, f64, String)>,
    /// Whether only its last point is marked: a law has points wherever one looks.
    pub smooth: bool,
}

impl Line {
    /// A line without a band or a ring.
    #[must_use]
    pub fn new(name: impl Into<Cow<'static, str>>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, band: Vec::new(), ring: None, smooth: false }
    }

    /// A line that follows a law through its points.
    #[must_use]
    pub fn smooth(name: impl Into<Cow<'static, str>>, points: Vec<(f64, f64)>) -> Self {
        Self { smooth: true, ..Self::new(name, points) }
    }
}

/// Lines on common axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// The title, which stands above the chart.
    pub title: String,
    /// Where the figures come from.
    pub mark: Mark,
    /// What the horizontal axis counts.
    pub across: Across,
    /// What the vertical axis is labelled.
    pub up: String,
    /// What there is a line of each: `scheme`.
    pub by: &'static str,
    /// How much each core would add if they added alike: the slope of a line for comparison.
    pub linear: Option<f64>,
    /// Whether two such charts stand side by side.
    pub small: bool,
    /// The lines, in the order in which their names stand.
    pub lines: Vec<Line>,
}

impl Lines {
    /// The chart as an SVG document.
    ///
    /// # Errors
    /// [`ReportError::NoCurves`] if no line has a point, [`ReportError::Layout`] if the template
    /// cannot be filled in.
    pub fn svg(&self) -> Result<String, ReportError> {
        if self.is_empty() {
            return Err(ReportError::NoCurves);
        }
        Ok(printable_document(&Chart::of_lines(self, "chart".to_owned()).render()?))
    }

    /// Several charts below each other, as one SVG document.
    ///
    /// # Errors
    /// As [`svg`](Self::svg), of any of them; [`ReportError::NoCurves`] if there is none.
    pub fn svg_of_all(charts: &[Self]) -> Result<String, ReportError> {
        if let [one] = charts {
            return one.svg();
        }
        if charts.is_empty() || charts.iter().any(Self::is_empty) {
            return Err(ReportError::NoCurves);
        }
        let named = |(at, lines)| Chart::of_lines(lines, format!("chart{at}"));
        Ok(printable_document(&chart::below_each_other(charts.iter().enumerate().map(named))?))
    }

    /// Whether there is nothing to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.iter().all(|line| line.points.is_empty())
    }

    /// What hovering over a point tells.
    pub(crate) fn point_in_words(&self, line: &Line, across: f64, up: f64) -> String {
        let at = match &self.across {
            Across::Cores => format!("on {} cores", number::plain(across)),
            Across::Threads => format!("with {} threads", number::plain(across)),
            Across::Percent(of) => format!("{} % {of}", number::plain(across)),
            Across::Ratios(of) => format!("{of} {}", number::plain(across)),
            Across::Numbers(of) => format!("{of} {}", number::plain(across)),
        };
        format!("{}, {at}\n{} {}", line.name, number::figure(up), self.up)
    }

    /// The figures in sentences, for those who cannot see them.
    pub(crate) fn in_words(&self) -> String {
        let sentence = |line: &Line| {
            let (first, last) = (line.points.first()?, line.points.last()?);
            let highest = line.points.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let at = |point: &(f64, f64)| {
                format!("{} at {}", number::figure(point.1), number::plain(point.0))
            };
            let (name, first, highest, last) = (&line.name, at(first), at(highest), at(last));
            Some(format!("{name}: {first}, highest {highest}, {last}."))
        };
        self.lines.iter().filter_map(sentence).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::{Across, Line, Lines};
    use crate::{Mark, ReportError};

    fn lines(points: Vec<(f64, f64)>) -> Lines {
        Lines {
            title: "a < b".to_owned(),
            mark: Mark::simulated("m", 1),
            across: Across::Percent("updates"),
            up: "jobs per second".to_owned(),
            by: "scheme",
            linear: None,
            small: false,
            lines: vec![Line::new("stock", points)],
        }
    }

    #[test]
    fn the_chart_is_xml_with_a_title_on_every_point() {
        let svg = lines(vec![(50.0, 20.0), (99.0, 10.0)]).svg().unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let text = |name| {
            let of_name = document.descendants().filter(move |node| node.has_tag_name(name));
            of_name.filter_map(|node| node.text()).collect::<Vec<_>>().join("|")
        };
        let titles = "stock, 50 % updates\n20.0 jobs per second|\
                      stock, 99 % updates\n10.0 jobs per second";
        assert_eq!(text("title"), titles);
        assert_eq!(text("desc"), "stock: 20.0 at 50, highest 20.0 at 50, 10.0 at 99.");
        assert!(text("text").contains("simulated on machine m, seed 1"));
        assert!(text("text").contains("a < b"));
    }

    #[test]
    fn rings_say_why_and_the_linear_line_ends_inside_the_plot() {
        let mut lines = lines(vec![(1.0, 1.0), (2.0, 1.5), (4.0, 1.2)]);
        lines.across = Across::Cores;
        let plain = lines.svg().unwrap();
        lines.linear = Some(1.0);
        lines.lines[0].band = vec![(0.9, 1.1), (1.4, 1.6), (1.1, 1.3)];
        lines.lines[0].ring = Some((4.0, 1.2, "falls from here".to_owned()));
        let svg = lines.svg().unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let has = |text| document.descendants().any(|node| node.text() == Some(text));
        assert!(has("falls from here") && has("linear scaling"));
        assert!(!plain.contains("linear scaling") && !plain.contains("class=\"band\""));
        assert!(svg.contains("class=\"band\""));
    }

    #[test]
    fn a_single_point_has_a_place_and_none_is_refused() {
        assert!(!lines(vec![(99.0, 10.0)]).svg().unwrap().contains("NaN"));
        assert!(matches!(lines(Vec::new()).svg(), Err(ReportError::NoCurves)));
    }

    #[test]
    fn charts_below_each_other_are_one_document() {
        let mut charts = [lines(vec![(1.0, 1.0)]), lines(vec![(2.0, 2.0)])];
        charts[1].across = Across::Numbers("delay".to_owned());
        let svg = Lines::svg_of_all(&charts).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let inner = document.root_element().descendants().filter(|node| node.has_tag_name("desc"));
        let ids: Vec<_> = inner.filter_map(|node| node.attribute("id")).collect();
        assert_eq!(ids, ["chart0-d", "chart1-d"]);
        assert!(svg.contains("stock, delay 2"), "{svg}");
        assert_eq!(Lines::svg_of_all(&charts[..1]).unwrap(), charts[0].svg().unwrap());
        assert!(matches!(Lines::svg_of_all(&[]), Err(ReportError::NoCurves)));
    }

    #[test]
    fn figures_below_zero_have_a_place() {
        let svg = lines(vec![(1.0, -4.0), (2.0, 4.0)]).svg().unwrap();
        assert!(svg.contains(">-4<") && svg.contains(">4<"), "{svg}");
    }

    #[test]
    fn small_figures_have_no_prefix_and_large_ones_do() {
        let drawn = |points| lines(points).svg().expect("it has points");
        let small = drawn(vec![(1.0, 0.2), (8.0, 0.9)]);
        assert!(small.contains(">0.8<") && !small.contains(" m<"), "{small}");
        let large = drawn(vec![(1.0, 2e5), (8.0, 9e5)]);
        assert!(large.contains(" k<"), "{large}");
    }
}
