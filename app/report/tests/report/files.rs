//! The other formats, and files.

use std::path::Path;

use crate::sample::{HOSTILE, Sample};
use kilocore_report::{Format, Report, ReportError, write};

#[test]
fn the_chart_is_well_formed_and_says_what_it_shows() {
    let mut sample = Sample::new();
    sample.forecast.command = vec![HOSTILE.to_owned()];
    let text = sample.report().svg().unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "svg");
    assert_eq!(root.tag_name().namespace(), Some("http://www.w3.org/2000/svg"));
    assert_eq!(root.descendants().filter(|node| node.has_tag_name("script")).count(), 0);
    let class = |name: &'static str| {
        move |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|classes| classes.split(' ').any(|c| c == name))
        }
    };
    let series = root.descendants().filter(class("series")).count();
    assert!((3..=8).contains(&series), "the most telling curves: {series}");
    let points = series * sample.forecast.curves[0].points.len();
    assert_eq!(root.descendants().filter(class("dot")).count(), points);
    let sub = root.descendants().find(class("sub")).unwrap();
    assert_eq!(sub.text(), Some("simulated on machine opteron-6344-4s, seed 7"));
    let description = root.descendants().find(|node| node.has_tag_name("desc")).unwrap();
    assert!(description.text().unwrap().contains("futex collapses"));
}

#[test]
fn all_points_lie_inside_the_chart() {
    let sample = Sample::new();
    let text = sample.curves_report().svg().unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let size = |name| document.root_element().attribute(name).unwrap().parse::<f64>().unwrap();
    let (width, height) = (size("width"), size("height"));
    let mut dots = 0;
    for dot in document.descendants().filter(|node| node.attribute("class") == Some("dot")) {
        let place = dot.attribute("transform").unwrap();
        let place = place.strip_prefix("translate(").unwrap().strip_suffix(')').unwrap();
        let (x, y) = place.split_once(' ').unwrap();
        let (x, y): (f64, f64) = (x.parse().unwrap(), y.parse().unwrap());
        assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{place}");
        dots += 1;
    }
    assert!(dots > 0);
}

#[test]
fn csv_gives_every_figure_back() {
    let sample = Sample::new();
    let text = sample.report().csv().unwrap();
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let column = |name| headings.iter().position(|heading| heading == name).unwrap();
    let points = sample.forecast.curves.iter().flat_map(|curve| &curve.points);
    let mut rows = reader.records();
    for expected in points {
        let row = rows.next().unwrap().unwrap();
        let figure = |name| row[column(name)].parse::<f64>().unwrap();
        assert_eq!(&row[column("provenance")], "simulated");
        assert_eq!(&row[column("machine")], "opteron-6344-4s");
        assert_eq!(&row[column("lock")], expected.point.lock);
        assert_eq!(figure("cores"), f64::from(expected.point.cores));
        assert_eq!(figure("throughput_per_s"), expected.point.throughput_per_s);
        assert_eq!(figure("low_per_s"), expected.low);
        assert_eq!(figure("high_per_s"), expected.high);
        assert_eq!(figure("joules_per_op"), expected.point.joules_per_op);
        assert_eq!(figure("wait_share"), expected.point.wait_share);
    }
    assert!(rows.next().is_none());
}

#[test]
fn json_holds_the_forecast_and_the_points() {
    let sample = Sample::new();
    let read = |text: String| serde_json::from_str::<serde_json::Value>(&text).unwrap();
    let forecast = read(sample.report().json().unwrap());
    assert_eq!(forecast["forecast"]["provenance"], "simulated");
    assert_eq!(forecast["profile"]["host"]["cores"], 2);
    let curves = read(sample.curves_report().json().unwrap());
    let point = &curves["points"][3];
    let expected = &sample.forecast.curves[0].points[3];
    assert_eq!(point["lock"], expected.point.lock);
    assert_eq!(point["cores"], expected.point.cores);
    assert_eq!(point["throughput_per_s"], expected.point.throughput_per_s);
    assert_eq!(point["low"], expected.low);
    assert_eq!(sample.curves_report().json().unwrap(), sample.curves_report().json().unwrap());
}

#[test]
fn the_ending_chooses_the_format() {
    let sample = Sample::new();
    let directory = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("a.html", Format::Html),
        ("a.svg", Format::Svg),
        ("a.b.CSV", Format::Csv),
        ("a.json", Format::Json),
    ] {
        let path = directory.path().join(name);
        write(&path, &sample.report()).unwrap();
        let expected = sample.report().render(format).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), expected);
    }
}

#[test]
fn other_endings_are_refused_with_those_that_are_not() {
    let sample = Sample::new();
    let directory = tempfile::tempdir().unwrap();
    for name in ["report.pdf", "report", ".html", "report."] {
        let path = directory.path().join(name);
        let error = write(&path, &sample.report()).unwrap_err();
        assert!(matches!(error, ReportError::Ending { .. }));
        let message = error.to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        assert!(message.ends_with("end it in .html, .svg, .csv or .json"), "{message}");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_file_is_replaced_whole_or_kept() {
    let mut sample = Sample::new();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("report.html");
    std::fs::write(&path, "before").unwrap();
    // A reader that opened the old file keeps it: the new one took its name, not its place.
    let mut old = std::fs::File::open(&path).unwrap();
    write(&path, &sample.report()).unwrap();
    let mut kept = String::new();
    std::io::Read::read_to_string(&mut old, &mut kept).unwrap();
    assert_eq!(kept, "before");
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(written.ends_with("</html>\n") || written.ends_with("</html>"));

    sample.forecast.curves.clear();
    assert!(write(&path, &sample.report()).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), written);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1, "no temporary file");
}

#[test]
fn a_failure_to_put_the_file_in_place_leaves_nothing() {
    let sample = Sample::new();
    let directory = tempfile::tempdir().unwrap();
    // A directory of that name cannot be replaced by a file.
    let path = directory.path().join("taken.html");
    std::fs::create_dir(&path).unwrap();
    let error = write(&path, &sample.report()).unwrap_err();
    assert!(matches!(error, ReportError::Write { .. }));
    assert!(error.to_string().starts_with(&path.display().to_string()));
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);

    let path = directory.path().join("missing/report.csv");
    let message = write(&path, &sample.report()).unwrap_err().to_string();
    assert!(message.contains("missing/report.csv"), "{message}");
    assert!(write(Path::new("/dev/null/report.csv"), &sample.report()).is_err());
}

#[cfg(unix)]
#[test]
fn the_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let sample = Sample::new();
    let directory = tempfile::tempdir().unwrap();
    let (report, plain) = (directory.path().join("report.csv"), directory.path().join("plain"));
    write(&report, &sample.report()).unwrap();
    std::fs::write(&plain, "").unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&report), mode(&plain));
}
