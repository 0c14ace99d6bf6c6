//! The other formats, and files.

use kilocore_show::Report;

use crate::sample::{HOSTILE, Sample};

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
