//! What a browser and a reader of the page may rely on.

use kilocore_show::{Report, ReportError};
use scraper::{Html, Selector};

use crate::sample::{HOSTILE, Sample};
use crate::threads;

fn page(text: &str) -> Html {
    let page = Html::parse_document(text);
    assert!(page.errors.is_empty(), "the parser objects: {:?}", page.errors);
    page
}

fn texts(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    page.select(&selector).map(|element| element.text().collect::<String>()).collect::<Vec<_>>()
}

fn count(page: &Html, selector: &str) -> usize {
    page.select(&Selector::parse(selector).unwrap()).count()
}

#[test]
fn the_page_opens_with_the_advice_and_its_command() {
    let sample = Sample::new();
    let page = page(&sample.report().html().unwrap());
    let advice = &sample.forecast.recommendation;
    assert_eq!(texts(&page, ".advice h2"), vec![advice.headline.as_str()]);
    assert_eq!(texts(&page, ".advice p"), vec![advice.confidence.as_str()]);
    assert_eq!(texts(&page, ".advice li"), advice.text);
    assert_eq!(texts(&page, ".command code"), [advice.command.clone().unwrap()]);
    assert_eq!(count(&page, "tr.recommended"), 1);
    assert_eq!(count(&page, "tr.today"), 1);
}

#[test]
fn every_point_has_a_title_and_a_row() {
    let sample = Sample::new();
    let page = page(&sample.report().html().unwrap());
    let points: usize = sample.forecast.curves.iter().map(|curve| curve.points.len()).sum();
    for figure in [".in-linear", ".in-log", ".pair figure:nth-child(2)"] {
        let titles = texts(&page, &format!("{figure} .dot > title"));
        assert_eq!(titles.len(), points, "{figure}");
        assert!(titles.iter().all(|title| title.contains(" cores") && title.contains("band")));
    }
    assert_eq!(count(&page, "table.points tbody tr"), points);
    let end = sample.forecast.curves[0].end();
    let title = format!("{} on {} cores\n", end.point.lock, end.point.cores);
    assert!(texts(&page, ".in-linear .dot > title").iter().any(|text| text.starts_with(&title)));
}

#[test]
fn foreign_text_stays_text() {
    let mut sample = Sample::new();
    sample.forecast.command.push(HOSTILE.to_owned());
    sample.forecast.assumptions.push(HOSTILE.to_owned());
    sample.forecast.recommendation.text.push(HOSTILE.to_owned());
    sample.machine.title = HOSTILE.to_owned();
    sample.machine.latency.same_core_ns.estimated = Some(HOSTILE.to_owned());
    sample.profile.host.processor = HOSTILE.to_owned();
    let text = sample.report().html().unwrap();
    let page = page(&text);
    assert_eq!(count(&page, "script"), 1, "only the page's own script");
    assert!(!text.contains('\u{1b}'));
    let shown = HOSTILE.replace('\u{1b}', "\u{fffd}");
    assert!(texts(&page, "table.sites code").contains(&shown));
    assert!(texts(&page, "h1").iter().any(|title| title.contains(&shown)));
}

#[test]
fn the_page_asks_for_nothing_from_elsewhere() {
    let sample = Sample::new();
    for text in [sample.report().html().unwrap(), sample.curves_report().html().unwrap()] {
        for reference in ["http:", "https:", "//cdn", "src=", "href=", "@import", "url(h", "<link"]
        {
            assert!(!text.contains(reference), "{reference}");
        }
        let page = page(&text);
        let policy = Selector::parse("meta[http-equiv=Content-Security-Policy]").unwrap();
        let policy = page.select(&policy).next().unwrap().attr("content").unwrap();
        assert!(policy.starts_with("default-src 'none'"));
        assert_eq!(count(&page, "img, iframe, object, embed, base"), 0);
    }
}

#[test]
fn every_table_and_chart_says_where_its_figures_come_from() {
    let sample = Sample::new();
    for text in [sample.report().html().unwrap(), sample.curves_report().html().unwrap()] {
        let page = page(&text);
        let parts = Selector::parse("section").unwrap();
        let marks = Selector::parse(".mark").unwrap();
        let figures = Selector::parse("table, .chart").unwrap();
        let mut with_figures = 0;
        for part in page.select(&parts).filter(|part| part.select(&figures).next().is_some()) {
            with_figures += 1;
            assert!(part.select(&marks).next().is_some(), "{}", part.html());
        }
        assert!(with_figures >= 3);
        let rows = count(&page, ".machine tbody tr:not(.group)");
        assert_eq!(count(&page, ".machine tbody .mark"), rows);
    }
    let page = page(&sample.report().html().unwrap());
    let simulated = texts(&page, ".from").into_iter().filter(|text| text.contains("simulated"));
    assert!(simulated.clone().count() >= 3);
    for text in simulated {
        assert_eq!(text, "simulated on machine opteron-6344-4s, seed 7");
    }
    let measured = "measured on Sample Processor 9000, 2 cores, Linux 6.1.0-26-amd64";
    assert!(texts(&page, ".from").contains(&measured.to_owned()));
}

#[test]
fn each_lock_can_be_hidden_without_a_script() {
    let sample = Sample::new();
    let text = sample.report().html().unwrap();
    let page = page(&text);
    for index in 0..sample.forecast.curves.len() {
        assert_eq!(count(&page, &format!(".legend #show-{index}")), 1);
        assert!(text.contains(&format!("#show-{index}:not(:checked)) .s{index}{{display:none}}")));
        assert_eq!(count(&page, &format!(".in-linear .s{index}")), 1);
    }
}

#[test]
fn a_chart_opens_with_eight_lines_and_a_table_with_as_many_rows() {
    let sample = Sample::new();
    let page = page(&sample.report().html().unwrap());
    let shown = count(&page, ".legend input[checked]");
    assert!((3..=8).contains(&shown), "{shown} of {}", sample.forecast.curves.len());
    assert_eq!(count(&page, ".rows tbody tr:not(.more)"), shown);
    assert_eq!(count(&page, ".rows tbody tr"), sample.forecast.curves.len());
    assert_eq!(count(&page, "#all-rows"), 1);
}

#[test]
fn locks_stand_under_where_they_are_acquired() {
    let sample = Sample::new();
    let page = page(&sample.report().html().unwrap());
    let names = texts(&page, ".sites th[scope=row] summary");
    assert!(names[0].starts_with("Store::get"), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("made at Store::put")), "{names:?}");
}

#[test]
fn ids_are_unique() {
    let sample = Sample::new();
    let page = page(&sample.report().html().unwrap());
    let ids = Selector::parse("[id]").unwrap();
    let mut ids: Vec<&str> = page.select(&ids).map(|element| element.attr("id").unwrap()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}

#[test]
fn a_page_without_profile_machine_or_advice_is_whole() {
    let mut sample = Sample::new();
    sample.forecast.recommendation.command = None;
    sample.forecast.recommendation.lock = None;
    sample.forecast.locks.clear();
    let mut report = sample.report();
    (report.machine, report.profile) = (None, None);
    report.generated.at = None;
    let page = page(&report.html().unwrap());
    assert_eq!(count(&page, "tr.recommended"), 0);
    assert_eq!(count(&page, ".command"), 0);
    assert_eq!(count(&page, ".machine"), 0);
    assert_eq!(count(&page, ".tile"), 1, "no card recommends what the advice does not");
}

#[test]
fn where_the_threads_time_went_is_on_the_page_if_it_was_seen() {
    let mut sample = Sample::new();
    let without = page(&sample.report().html().unwrap());
    assert_eq!(count(&without, "table.roles, svg.waits"), 0);
    let times = threads::times("worker");
    let found = times.findings[0].to_string();
    sample.profile.runs[0].times = Some(times);
    let with = page(&sample.report().html().unwrap());
    assert!(texts(&with, ".finding").contains(&found));
    assert_eq!(count(&with, "table.roles"), 1);
    assert_eq!(count(&with, "svg.waits .worst"), 1);
    assert!(count(&with, "table.edges tbody tr") > 2);
}

#[test]
fn nothing_to_draw_is_an_error() {
    let mut sample = Sample::new();
    sample.forecast.curves.clear();
    assert!(matches!(sample.report().html(), Err(ReportError::NoCurves)));
}

#[test]
fn figures_that_are_not_numbers_leave_the_charts_whole() {
    let mut sample = Sample::new();
    for (curve, rate) in sample.forecast.curves.iter_mut().zip([0.0, f64::NAN, f64::INFINITY]) {
        for point in &mut curve.points {
            point.point.throughput_per_s = rate;
            point.point.joules_per_op = rate;
            point.point.wait_share = rate;
        }
    }
    sample.forecast.curves[3].points.truncate(1);
    let text = sample.report().html().unwrap();
    let page = page(&text);
    let paths = Selector::parse("svg path, svg polyline, svg g").unwrap();
    for attribute in ["d", "points", "transform"] {
        for text in page.select(&paths).filter_map(|path| path.attr(attribute)) {
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
    }
}
