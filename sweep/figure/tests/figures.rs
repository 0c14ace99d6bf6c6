//! Figures of tables as runs write them, and of tables that are wrong.

use std::fs;
use std::path::Path;

use kilocore_show::{Generated, Report};
use kilocore_sweep_figure::{Figure, FigureError, Gathering, MOST_POINTS, Runs};
use kilocore_sweep_plan::Plan;
use proptest::prelude::*;
use serde_json::Value;

/// A plan of three runs with a figure.
fn plan(figure: &str) -> Plan {
    let text = format!(
        "[[run]]\ncommand = 'kilocore forecast {{file}} --seed {{seed}} --machine m'\noutput = '{{file}}-{{seed}}.csv'\n\
         over.file = ['db']\nover.seed = '1-3'\n[[figure]]\noutput = 'all.csv'\n{figure}"
    );
    Plan::parse(&text, "plan.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn generated() -> Generated {
    Generated {
        by: "kilocore".to_owned(),
        command: "kilocore sweep plan.toml".to_owned(),
        at: None,
    }
}

/// The figure of so many of the runs, which have written these.
fn figure(figure: &str, tables: &[&str]) -> Result<Figure, FigureError> {
    let plan = plan(figure);
    let mut gathering = Gathering::new(&plan.figures[0]);
    for (run, table) in plan.runs.iter().zip(tables) {
        let file = run.answer.table().expect("it writes one");
        gathering.add(file, run, table.as_bytes())?;
    }
    gathering.figure("plan.toml", (tables.len(), plan.runs.len()), generated())
}

fn refused(text: &str, tables: &[&str]) -> String {
    figure(text, tables).expect_err(text).to_string()
}

const LOCKS: &str = "x = 'cores'\ny = 'rate'\nline = 'lock'\n";
const ONE: &str = "provenance,machine,lock,cores,rate\nsimulated,m,mcs,8,30\nsimulated,m,mcs,1,10\nsimulated,m,cna,8,40\n";

#[test]
fn rows_of_a_point_are_its_median_lowest_and_highest() {
    let seeds = [ONE, &ONE.replace("30", "60"), &ONE.replace("30", "33.5")];
    let made = figure(LOCKS, &seeds).expect("it can be made");
    assert_eq!(
        made.csv().expect("rows"),
        "provenance,lock,cores,rate,rate_low,rate_high,rows\n\
         simulated,mcs,1,10.0,10.0,10.0,3\n\
         simulated,mcs,8,33.5,30.0,60.0,3\n\
         simulated,cna,8,40.0,40.0,40.0,3\n"
    );
    let page = made.markdown().expect("tables");
    assert!(page.contains("Rows of one point differ in seed"), "{page}");
    assert!(
        page.contains("All 3 runs are in it") && page.contains("| mcs | 10.0 | 33.5 |"),
        "{page}"
    );
    assert!(made.svg().expect("a chart").contains("class=\"band\""));
    assert!(made.html().expect("a page").contains("simulated"));
    assert_eq!(made, figure(LOCKS, &seeds).expect("the same"));
    let json: Value = serde_json::from_str(&made.json().expect("a document")).expect("it is JSON");
    assert_eq!(json["schema"], "kilocore-sweep-figure/1");
    assert_eq!(json["charts"][0]["lines"][0]["values"][0][1], "mcs");
    assert_eq!(json["charts"][0]["lines"][0]["points"][1]["y_high"], 60.0);
}

#[test]
fn what_a_run_has_of_the_plan_is_a_column_and_its_table_comes_first() {
    let text =
        "x = 'seed'\ny = 'rate'\nline = ['file', 'lock']\nonly = [{ cores = 8, seed = '< 3' }]\n";
    let made = figure(text, &[ONE, ONE, ONE]).expect("it can be made");
    let rows = made.csv().expect("rows");
    assert!(rows.starts_with(
        "provenance,file,lock,seed,rate,rate_low,rate_high,rows\nsimulated,db,mcs,1,30.0,"
    ));
    assert_eq!(rows.lines().count(), 5, "{rows}");
    let own = ONE.replace("machine", "seed").replace(",m,", ",7,");
    let rows = figure("x = 'cores'\ny = 'rate'\nline = 'seed'\n", &[&own]).expect("it can be made");
    assert!(rows.csv().expect("rows").contains("simulated,7,8,"));
    assert!(rows.markdown().expect("tables").contains("1 of 3 runs"));
}

#[test]
fn kinds_of_figures_are_never_in_one_line() {
    let measured = ONE.replace("simulated", "measured");
    let made = figure(LOCKS, &[ONE, &measured]).expect("it can be made");
    assert!(made.charts[0].lines.iter().all(|line| line.points.iter().all(|it| it.rows == 1)));
    let page = made.markdown().expect("tables");
    for part in [
        "mcs (simulated)",
        "cna (measured)",
        "simulated and measured, as each line says",
        "no line has two",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let apart =
        figure("x = 'cores'\ny = 'rate'\nchart = 'provenance'\nline = 'lock'\n", &[ONE, &measured]);
    let apart = apart.expect("it can be made");
    assert_eq!(apart.charts.len(), 2);
    let page = apart.markdown().expect("tables");
    assert!(!page.contains("mcs (simulated)"), "{page}");
    let rows = apart.csv().expect("rows");
    assert!(rows.starts_with("provenance,lock,cores,"), "{rows}");
    assert_eq!(apart.svg().expect("charts").matches("class=\"heading\"").count(), 2);
}

#[test]
fn tables_and_rows_that_lack_something_are_left_out_and_counted() {
    let other = "provenance,threads,speed\nmeasured,1,2\n";
    let empty = ONE.replace("10\n", "\n").replace("40", "NaN");
    let made = figure(LOCKS, &[other, &empty, ""]).expect("it can be made");
    assert_eq!((made.tables_left_out, made.rows_without), (1, 2));
    let page = made.markdown().expect("tables");
    assert!(page.contains("Left out: 1 table without one of its columns"), "{page}");
    assert!(page.contains("Left out: 2 rows without a number under cores or rate"), "{page}");
}

#[test]
fn what_cannot_be_drawn_is_named_with_its_mend() {
    let skip = format!("{LOCKS}skip = [{{ cores = '>= 1' }}]\n");
    let compared = format!("{LOCKS}only = [{{ lock = '> 1' }}]\n");
    let unknown = format!("{LOCKS}only = [{{ lok = 'mcs' }}]\n");
    let (own, bad) = (ONE.replace("simulated", "made up"), ONE.replace(",30", ",many"));
    let without = ONE.replace("provenance", "kind");
    let long = ONE.replace("mcs", &"m".repeat(300));
    let apart = ["provenance,cores,lock\nsimulated,1,mcs\n", "provenance,rate\nsimulated,1\n"];
    for (text, tables, parts) in [
        (
            "x = 'cores'\ny = 'rat'\n",
            &[ONE][..],
            ["a column 'rat'", "db-1.csv has provenance, machine, lock, cores, rate, file, seed"],
        ),
        (&unknown, &[ONE], ["a column 'lok'", "mend the name"]),
        (LOCKS, &apart, ["all of the columns lock, cores, rate", "one command's"]),
        (LOCKS, &[&bad], ["db-1.csv, line 2: 'rate' is 'many'", "skip = [{ rate = \"many\" }]"]),
        ("x = 'lock'\ny = 'rate'\n", &[ONE], ["'lock' is 'mcs'", "name a column of numbers"]),
        (&skip, &[ONE], ["none of 3 rows in 1 tables", "mend 'only' and 'skip'"]),
        (&compared, &[ONE], ["db-1.csv, line 2: ", "'mcs' is no number"]),
        (LOCKS, &[&own], ["line 2 is 'made up'", "'measured' or the like"]),
        (LOCKS, &[&without], ["no column 'provenance'", "as Kilocore writes them"]),
        (LOCKS, &[&long], ["'lock' is longer than 200 bytes", "under 'line' or 'chart'"]),
        (LOCKS, &["provenance,cores,rate,lock\n1,2\n"], ["db-1.csv: ", "run the sweep again"]),
    ] {
        let error = refused(text, tables);
        assert!(parts.iter().all(|part| error.contains(part)), "{text}{error}");
    }
    let many: String = (0..=MOST_POINTS).map(|at| format!("simulated,m,mcs,{at},1\n")).collect();
    let many = format!("provenance,machine,lock,cores,rate\n{many}");
    let error = refused(LOCKS, &[&many]);
    assert!(error.contains("more than 50000 points") && error.contains("cores = "), "{error}");
}

#[test]
fn tables_are_read_from_the_folder_of_the_answers() {
    let plan = plan(LOCKS);
    let folder = tempfile::tempdir().expect("a folder");
    let runs = |answered: usize| Runs {
        plan: &plan,
        origin: "plan.toml",
        folder: folder.path(),
        answered: plan.runs.iter().take(answered).collect(),
        generated: generated(),
    };
    let of = |answered| Figure::of(&plan.figures[0], &runs(answered));
    assert!(of(0).expect("nothing is wrong").is_none());
    assert!(of(1).expect_err("nothing is there").to_string().contains("db-1.csv"));
    fs::write(folder.path().join("db-1.csv"), ONE).expect("it can be written");
    let made = of(1).expect("nothing is wrong").expect("a run is answered");
    assert_eq!((made.answered, made.of), (1, 3));
    assert_eq!(made.title(), "rate against cores");
    assert!(made.markdown().expect("tables").contains("1 of 3 runs of plan.toml"));
}

proptest! {
    /// Whatever is in a table, it is shown in each way or refused.
    #[test]
    fn no_table_is_too_bad(
        rows in proptest::collection::vec(
            ("measured|simulated|", "[a-c<]?", "-?[0-9]{1,3}|1e30[0-9]|inf|x?", "-?[0-9]{1,3}|1e30[0-9]|-0|"),
            0..12,
        ),
        cut in 0_usize..200,
    ) {
        let rows: String =
            rows.iter().map(|(kind, lock, x, y)| format!("{kind},{lock},{x},{y}\n")).collect();
        let mut text = format!("provenance,lock,cores,rate\n{rows}");
        for at in [text.len(), cut.min(text.len())] {
            text.truncate(at);
            let Ok(made) = figure(LOCKS, &[&text]) else { continue };
            prop_assert!(made.charts.iter().all(|chart| !chart.provenances().is_empty()));
            for shown in [made.html(), made.svg(), made.csv(), made.json(), made.markdown()] {
                prop_assert!(shown.is_ok());
            }
        }
    }

    #[test]
    fn no_bytes_are_too_bad(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let plan = plan(LOCKS);
        let mut gathering = Gathering::new(&plan.figures[0]);
        let _ = gathering.add(Path::new("a.csv"), &plan.runs[0], &bytes);
        let _ = gathering.figure("plan.toml", (1, 3), generated());
    }
}
