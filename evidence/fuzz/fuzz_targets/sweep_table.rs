//! Tables of a sweep's runs: what can be drawn of them is drawn in every way.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use kilocore_show::{Format, Generated, Report};
use kilocore_sweep_figure::Gathering;
use kilocore_sweep_plan::Plan;
use libfuzzer_sys::fuzz_target;

/// A figure with one of each.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let text = "[[run]]\ncommand = 'kilocore list {a}'\noutput = '{a}.csv'\nover.a = [1]\n[[figure]]\noutput = 'all.csv'\n\
                x = 'cores'\ny = 'rate'\nline = ['lock', 'a']\nchart = 'machine'\nskip = [{ cores = '> 99' }]\n";
    Plan::parse(text, "plan.toml").expect("a plan")
});

fuzz_target!(|bytes: &[u8]| {
    let mut gathering = Gathering::new(&PLAN.figures[0]);
    // Two tables in one: rows meet.
    for table in bytes.splitn(2, |byte| *byte == 0) {
        if gathering.add(Path::new("1.csv"), &PLAN.runs[0], table).is_err() {
            return;
        }
    }
    let generated = Generated { by: String::new(), command: String::new(), at: None };
    let Ok(figure) = gathering.figure("plan.toml", (1, 1), generated) else { return };
    for format in Format::ALL {
        figure.render(format).expect("what was accepted is shown");
    }
    let points = figure.charts.iter().flat_map(|chart| &chart.lines).flat_map(|line| &line.points);
    for point in points {
        assert!(point.rows > 0 && point.lowest <= point.median && point.median <= point.highest);
    }
});
