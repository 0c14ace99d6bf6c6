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

/// The tables of a document in Markdown, each a heading, a rule and rows of as many cells.
fn tables(text: &str) -> Vec<Vec<&str>> {
    let blocks = text.split("\n\n").filter(|block| block.starts_with('|'));
    let tables: Vec<Vec<&str>> = blocks.map(|block| block.lines().collect()).collect();
    for table in &tables {
        let cells = |line: &str| line.replace("\\|", "").matches('|').count();
        let of_heading = cells(table[0]);
        assert!(table.iter().all(|line| cells(line) == of_heading), "{table:#?}");
    }
    tables
}

#[test]
fn markdown_has_the_verdict_and_every_lock_in_tables() {
    let sample = Sample::new();
    let (text, curves) =
        (sample.report().markdown().unwrap(), sample.curves_report().markdown().unwrap());
    let advice = &sample.forecast.recommendation;
    assert!(
        text.starts_with(
            "# Forecast for opteron-6344-4s\n\nForecast of `kvstore --threads 2`, on "
        )
    );
    assert!(text.contains("Made by kilocore 0.1.0 with `kilocore doctor -- kvstore --threads 2`."));
    assert!(text.contains(&format!("\n## {}\n", advice.headline)), "{text}");
    assert!(text.contains(&format!("\n    {}\n", advice.command.as_deref().unwrap())), "{text}");
    assert!(text.contains("`Store::put`"), "the name in the advice is code: {text}");
    assert!(
        curves.contains("The workload: threads think 4,000 cycles, then hold one lock for 400.")
    );
    for text in [&text, &curves] {
        let by_lock = &tables(text)[0];
        assert!(by_lock[1].starts_with("| --- | --- | --- | --: |"), "{}", by_lock[1]);
        assert_eq!(by_lock.len(), 2 + sample.forecast.curves.len());
        assert!(text.contains("lock, sections per second (simulated on machine opteron-6344-4s"));
    }
    let locks = &tables(&text)[1];
    let hostile = format!("made at `{}`", HOSTILE.replace('\u{1b}', "\u{fffd}"));
    assert!(locks.iter().any(|line| line.contains(&hostile)), "{locks:#?}");
    assert_eq!(text.matches("<script>").count(), text.matches("`<script>").count(), "{text}");
}
