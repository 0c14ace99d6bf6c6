//! Figures of a plan: made of what is answered, however that came.

use std::fs;

use super::{PROFILE, Place, document, text};

/// Two forecasts with tables, of which the second may fail, and what is drawn of them.
fn plan(second: &str, y: &str) -> String {
    format!(
        r#"
        [[run]]
        command = "kilocore forecast {PROFILE} --machine core-i7-6700 --lock {{lock}} --cores 1,4"
        output = "{{lock}}.csv"
        over.lock = ["mcs", "{second}"]
        [[figure]]
        output = ["all/rates.csv", "all/rates.html", "all/rates.svg"]
        x = "cores"
        y = "{y}"
        line = "lock"
        only = [{{ lock = ["mcs", "cna"] }}]
        "#
    )
}

#[test]
fn a_figure_has_the_rows_of_all_runs_and_is_the_same_each_time() {
    let place = Place::new(&plan("cna", "throughput_per_s"));
    let listed = text(&place.sweep(&["--list"]).stdout);
    let last = listed.lines().last().expect("a line");
    assert_eq!(
        last,
        "# figure: line 7, throughput_per_s against cores, in plan/all/rates.csv, plan/all/rates.html, plan/all/rates.svg"
    );
    let part = document(&place.sweep(&["--bundle", "1/1", "--json"]));
    assert_eq!(part["figures"][0]["state"], "left");
    assert!(!place.path().join("plan/all").exists());

    let made = document(&place.sweep(&["--json"]));
    assert_eq!(made["figures"][0]["state"], "written", "{made}");
    assert_eq!(made["figures"][0]["files"][0], "plan/all/rates.csv");
    let rows = text(&place.answer("all/rates.csv"));
    let of_run = text(&place.answer("mcs.csv"));
    let mut lines = rows.lines();
    let names =
        "provenance,lock,cores,throughput_per_s,throughput_per_s_low,throughput_per_s_high,rows";
    assert_eq!(lines.next(), Some(names));
    // The forecast of `cna` has today's lock beside it, which nobody wants here, and that of `mcs` has no `cna`.
    let keys: Vec<String> =
        lines.clone().map(|row| row.split(',').take(3).collect::<Vec<_>>().join(",")).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    assert_eq!(keys, ["simulated,mcs,1", "simulated,mcs,4", "simulated,cna,1", "simulated,cna,4"]);
    let rate = lines.next().and_then(|row| row.split(',').nth(3)).expect("a rate");
    assert!(of_run.contains(rate), "{rate}: {of_run}");
    let page = text(&place.answer("all/rates.html"));
    assert!(page.contains("All 2 runs are in it") && page.contains("kilocore sweep plan.toml"));

    let output = place.sweep(&[]);
    let said = text(&output.stdout);
    assert!(
        said.ends_with("figure: plan/all/rates.csv, plan/all/rates.html, plan/all/rates.svg\n"),
        "{said}"
    );
    assert_eq!(text(&place.answer("all/rates.html")), page);
}

#[test]
fn a_figure_says_how_many_runs_are_in_it_and_one_that_cannot_be_made_fails() {
    let place = Place::new(&plan("mcz", "throughput_per_s"));
    let output = place.sweep(&[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&place.answer("all/rates.html")).contains("1 of 2 runs are in it"));

    fs::write(place.path().join("plan.toml"), plan("cna", "throughput"))
        .expect("it can be written");
    let output = place.sweep(&[]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "2 of 2 runs",
        "failed: line 7, the figure plan/all/rates.csv",
        "a column 'throughput'",
        "mcs.csv has provenance, ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let failed = place.sweep(&["--json"]);
    assert_eq!(failed.status.code(), Some(1));
    assert!(text(&failed.stdout).contains("\"state\": \"failed\""), "{failed:?}");

    fs::write(place.path().join("plan.toml"), plan("cna", "a b")).expect("it can be written");
    let refused = place.sweep(&[]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("plan.toml, line 9: 'y' is 'a b'"), "{refused:?}");
}
