//! Reports of fits.

use kilocore_figures::{Provenance, usl::Law};
use kilocore_forecast::fit::{
    Advice, Gain, InputPlace, LawPoint, LeftOut, LockLaw, Outlook, OutlookCurve, OutlookPoint,
    Pinned, Plausible,
};
use kilocore_lock_report::{FitReport, terminal};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_show::{Generated, Report};
use scraper::{Html, Selector};

use crate::sample::HOSTILE;

const CORES: [u32; 4] = [6, 12, 24, 48];

/// A fit of a program that does not exist.
fn outlook() -> Outlook {
    let curves = [
        (LockId::Ticket, "ticket", [9.0, 6.0, 4.0, 3.0], 3),
        (LockId::Mcs, "mcs_spin", [9.0, 9.5, 9.6, 9.4], 2),
        (LockId::Cna, "cna", [9.0, 9.8, 9.9, 9.95], 0),
    ];
    let points = curves.iter().flat_map(|(lock, name, rates, measured)| {
        rates.iter().zip(CORES).enumerate().map(move |(index, (&rate, cores))| OutlookPoint {
            lock: lock.name(),
            alias: (*name != lock.name()).then_some(name),
            aliases: lock.info().aliases,
            cores,
            throughput: rate * 1e-3,
            low: rate * 0.8e-3,
            high: rate * 1.3e-3,
            given: (index < *measured).then_some(rate * 1.05e-3),
            provenance: Provenance::Simulated,
            interpolated: false,
            name,
        })
    });
    let pinned = |parameter, left| Pinned {
        parameter,
        median: 4.0,
        low: 1.0,
        high: 32.0,
        given: false,
        left,
    };
    let points: Vec<OutlookPoint> = points.collect();
    let gain = |lock, alias, gain| Gain { lock, alias, gain, sure: gain > 2.0 };
    Outlook {
        provenance: Provenance::Simulated,
        machine: "opteron-6344-4s".to_owned(),
        seed: 7,
        points,
        pinned: vec![pinned("locks", 0.1), pinned("lines", 0.5), pinned("hold (cycles)", 0.9)],
        plausible: vec![Plausible {
            weight: 0.5,
            parameters: vec![("locks", 1.0), ("lines", 2.0), ("hold (cycles)", 150.0)],
            background: "serial code",
        }],
        residual: 0.052,
        usl: vec![LockLaw {
            lock: "mcs",
            alias: Some("mcs_spin".to_owned()),
            law: Law { lambda: 2e-3, sigma: 0.2, kappa: 0.0 },
            peak_cores: None,
            points: vec![LawPoint { cores: 48, throughput: 9.2e-3 }],
        }],
        recommendation: Advice {
            lock: "cna",
            alias: None,
            cores: 48,
            throughput: 9.95e-3,
            low: 7.96e-3,
            high: 12.9e-3,
            gains: vec![gain("ticket", None, 3.3), gain("mcs", Some("mcs_spin"), 1.058)],
        },
        left_out: vec![LeftOut { place: InputPlace::Line(7), why: HOSTILE.to_owned() }],
    }
}

/// Runs `look` over the report of a fit.
fn with_report<T>(look: impl FnOnce(&FitReport<'_>, &[OutlookCurve]) -> T) -> T {
    let outlook = outlook();
    let curves = outlook.curves();
    let machine: Description = kilocore_machine::find("opteron-6344-4s").unwrap();
    let generated = Generated {
        by: "kilocore 0.1.0".to_owned(),
        command: "kilocore forecast measured.csv --machine opteron-6344-4s".to_owned(),
        at: None,
    };
    let report = FitReport { generated, outlook: &outlook, curves: &curves, machine: &machine };
    look(&report, &curves)
}

#[test]
fn the_page_shows_every_forecast_and_a_ring_for_every_measurement() {
    let text = with_report(|report, _| report.html().unwrap());
    let page = Html::parse_document(&text);
    assert!(page.errors.is_empty(), "the parser objects: {:?}", page.errors);
    let count = |selector: &str| page.select(&Selector::parse(selector).unwrap()).count();
    assert_eq!(count(".in-linear .dot"), 12);
    assert_eq!(count(".in-linear .given"), 5);
    assert_eq!(count(".in-linear .quiet"), 0, "cna is recommended, the others are measured");
    assert_eq!(count("table.points tbody tr"), 12 + 1);
    assert_eq!(count("tr.recommended"), 1);
    assert_eq!(count("script"), 1, "only the page's own");
    assert!(text.contains("mcs_spin on 12 cores") && text.contains("measured</title>"));
    for reference in ["http:", "https:", "src=", "href=", "@import"] {
        assert!(!text.contains(reference), "{reference}");
    }
    assert!(!text.contains("\"NaN") && !text.contains(">NaN"));
    assert!(!text.contains("sections per second"), "no unit is known");
}

#[test]
fn the_table_fits_and_says_what_is_given_and_what_is_open() {
    let text = with_report(|report, _| terminal::fit_table(report, 100));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    for part in [
        "0.00995 (0.00796 to 0.0129)",
        "3.30 times that under ticket and 1.06 times that under mcs (mcs_spin)",
        "kilocore run --lock cna",
        "pin 1 down well",
        "mcs (mcs_spin)",
        "universal scalability law",
        "simulated on machine opteron-6344-4s, seed 7",
    ] {
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "no '{part}' in: {text}");
    }
    for (parameter, degree) in
        [("locks", "well"), ("lines", "loosely"), ("hold (cycles)", "not pinned down")]
    {
        let says = |line: &str| line.starts_with(parameter) && line.ends_with(degree);
        assert!(text.lines().any(says), "{parameter}: {text}");
    }
    // The best at the end first.
    assert!(text.find("cna ●").unwrap() < text.find("mcs (mcs_spin)  ").unwrap(), "{text}");
}

#[test]
fn files_of_figures_can_be_fitted_again() {
    let (csv, json) = with_report(|report, _| (report.csv().unwrap(), report.json().unwrap()));
    for text in [csv, json] {
        let read = kilocore_forecast::fit::Measurements::parse(text.as_bytes()).unwrap();
        assert_eq!(read.points.len(), 5, "what was measured, and no forecast: {text}");
        assert!((read.points.iter().map(|p| p.throughput).fold(0.0, f64::max) - 9.975e-3) < 1e-9);
    }
}

#[test]
fn the_chart_is_well_formed_and_needs_no_unit() {
    let text = with_report(|report, curves| {
        assert_eq!(curves.len(), 3);
        report.svg().unwrap()
    });
    let document = roxmltree::Document::parse(&text).unwrap();
    let description = document.descendants().find(|node| node.has_tag_name("desc")).unwrap();
    let description = description.text().unwrap();
    assert!(description.contains("ticket collapses: peak 0.00900 at 6 cores"), "{description}");
    assert!(!text.contains(" /s") && !text.contains("m/s"), "no rate in: {text}");
}

#[test]
fn markdown_has_the_advice_and_a_table_for_each_of_the_terminal() {
    let text = with_report(|report, _| report.markdown().unwrap());
    assert!(
        text.starts_with("# Fit on opteron-6344-4s\n\nForecast from measured throughputs, on ")
    );
    for part in [
        "\n    kilocore run --lock cna -- PROGRAM\n",
        "**What the workload looks like (estimated from the measurements)**\n\n\
         | parameter | median | nine in ten between | pinned down |\n| --- | --: | --: | --- |\n\
         | locks | 4.00 | 1.00 and 32.0 | well |\n",
        "(simulated on machine opteron-6344-4s, seed 7)**\n\n| lock | curve | shape | peak | at |",
        "| cna ● |",
        "| mcs (mcs_spin) | 0.00200 | 0.200 | 0 | none | 0.00920 |\n",
    ] {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
}
