//! `kilocore-lab ldu` on few cores of the 120-core machine.

use crate::common;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use common::lab;

use serde_json::Value;

/// `words`, as an experiment.
fn ldu<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["ldu"], words].concat()
}

#[track_caller]
fn simulate(words: &[&str]) -> String {
    let output = lab(&ldu(words));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn refused(words: &[&str], parts: &[&str]) {
    common::refused(&ldu(words), parts);
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

const AIM7: [&str; 6] = ["--workload", "aim7", "--cores", "1,2", "--scheme", "stock,ldu-global"];

/// What is printed of two shares of updates, and the page that is written meanwhile.
fn printed_and_page() -> &'static (String, String) {
    static BOTH: OnceLock<(String, String)> = OnceLock::new();
    BOTH.get_or_init(|| {
        let page = path("ldu page.html");
        let file = format!("--output={}", page.display());
        let printed = simulate(&[&AIM7[..], &["--updates", "50,99", &file]].concat());
        (printed, std::fs::read_to_string(page).expect("the file is there"))
    })
}

#[test]
fn the_document_has_points_parameters_and_the_published_figures() {
    let words = [&AIM7[..], &["--updates", "80..85,100", "--json"]].concat();
    let document: Value = serde_json::from_str(&simulate(&words)).unwrap();
    assert_eq!(document["provenance"], "simulated");
    assert_eq!(document["machine"], "xeon-e7-8870v2-8s");
    assert_eq!(document["seed"], 1);
    assert_eq!(document["workload"], "aim7");
    assert_eq!(document["unit"], "jobs");
    for parameter in document["parameters"].as_array().unwrap() {
        for key in ["name", "value", "source"] {
            assert!(!parameter[key].as_str().unwrap().is_empty(), "{parameter}");
        }
    }
    let points = document["points"].as_array().unwrap();
    let of = |updates: f64, scheme: &str, cores: u64| {
        let found = points.iter().filter(|point| {
            point["updates_percent"] == updates
                && point["scheme"] == scheme
                && point["cores"] == cores
        });
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "{updates} % {scheme} on {cores} cores");
        found[0].clone()
    };
    assert_eq!(points.len(), 3 * 2 * 2);
    for updates in [80.0, 85.0, 100.0] {
        for scheme in ["stock", "ldu-global"] {
            let rate = |cores| of(updates, scheme, cores)["throughput_per_s"].as_f64().unwrap();
            assert!(rate(2) > 1.5 * rate(1), "two cores do not disturb each other");
            let point = of(updates, scheme, 2);
            let share = |key: &str| point[key].as_f64().unwrap();
            assert!((share("user") + share("sys") + share("idle") - 1.0).abs() < 1e-9, "{point}");
        }
    }
    assert_eq!(document["break_even"][0]["scheme"], "ldu-global");
    assert_eq!(document["break_even"][0]["cores"], 2);
    let published = &document["published"];
    assert_eq!(published["provenance"], "published");
    assert_eq!(published["throughput"]["best_over_stock"], 1.7);
    assert_eq!(published["times"].as_array().unwrap().len(), 4);
    let levels = published["levels"].as_array().unwrap();
    let cores: Vec<u64> = levels.iter().map(|level| level["cores"].as_u64().unwrap()).collect();
    assert_eq!(cores, [15, 30, 60, 120]);
    let origins: Vec<&str> = levels.iter().map(|l| l["origin"].as_str().unwrap()).collect();
    assert_eq!(origins, ["inferred", "inferred", "inferred", "published"]);
    assert!((levels[3]["per_s"].as_f64().unwrap() - 616_000.0 / 60.0).abs() < 0.1);
    assert_eq!(published["by_updates"]["over_stock"][0]["updates_percent"], 50.0);
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    let schemes = "harris-unordered,oplog,ldu-combined,ldu-adaptive";
    let words = ["--workload", "lmbench-fork", "--cores", "2", "--scheme", schemes, "--json"];
    let once = simulate(&words);
    assert_eq!(once, simulate(&words));
    assert_ne!(once, simulate(&[&words[..], &["--seed", "2"]].concat()));
}

#[test]
fn a_point_is_the_same_alone_and_in_company() {
    let points = |schemes: &str, cores: &str| {
        let words =
            ["--workload", "lmbench-fork", "--updates", "90", "--scheme", schemes, "--json"];
        let text = simulate(&[&words[..], &["--cores", cores]].concat());
        let document: Value = serde_json::from_str(&text).unwrap();
        document["points"].as_array().unwrap().clone()
    };
    let company = points("stock,oplog,ldu-global", "2,5");
    for scheme in ["stock", "oplog", "ldu-global"] {
        // The host's threads share the points of a sweep, each after others.
        let [alone] = &points(scheme, "5")[..] else { panic!("one point was asked for") };
        assert!(company.contains(alone), "{alone} is not in {company:?}");
    }
}

#[test]
fn every_table_says_where_its_figures_come_from() {
    let (text, _) = printed_and_page();
    // A table is a title, which is the line above the names of columns, and rows.
    let titles: Vec<&str> = text.split("\n\n").map(|part| part.lines().next().unwrap()).collect();
    assert_eq!(titles.len(), 6, "by cores twice, by updates, ratios, times, ratios: {text}");
    for title in &titles {
        assert!(title.contains("simulated") || title.contains("published"), "{title}");
    }
    for part in [
        "aim7: jobs per second by cores, 50 % updates (simulated on machine xeon-e7-8870v2-8s, seed 1)",
        "by share of updates, on 2 cores (simulated",
        "breaks even at 66 to 75 % updates (published)",
        "table 2.1",
        "(published): the best log 1.70 × stock and 1.10 × the unordered list",
    ] {
        assert!(text.contains(part), "no '{part}' in:\n{text}");
    }
    let narrow = simulate(&["--workload", "lmbench-fork", "--cores", "1"]);
    assert!(narrow.contains("forks per second"), "{narrow}");
    for scheme in ["stock", "mutex", "harris-unordered", "oplog", "flat-combining", "ldu-adaptive"]
    {
        assert!(narrow.contains(scheme), "all schemes if none is named: {narrow}");
    }
}

#[test]
fn published_levels_stand_beside_the_simulated_ones() {
    let levels = |workload: &str, updates: &str| {
        let words = ["--workload", workload, "--updates", updates, "--scheme", "stock"];
        simulate(&[&words[..], &["--cores", "1,15"]].concat())
    };
    let aim7 = levels("aim7", "100");
    for part in ["stock, published", "~2,570", "on 15 cores: inferred", "'scales linearly'"] {
        assert!(aim7.contains(part), "no '{part}' in:\n{aim7}");
    }
    let lmbench = levels("lmbench-fork", "100");
    for part in ["not known", "on 15 cores: not published", "no unit"] {
        assert!(lmbench.contains(part), "no '{part}' in:\n{lmbench}");
    }
    assert!(!levels("aim7", "99").contains("stock, published"), "they are of updates only");
}

#[test]
fn files_are_written_by_their_ending() {
    let text_of = |name: &str| std::fs::read_to_string(path(name)).expect("the file is there");
    let files =
        ["ldu.csv", "ldu.json", "ldu.svg"].map(|name| format!("--output={}", path(name).display()));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    simulate(&[&AIM7[..], &files].concat());
    let csv = text_of("ldu.csv");
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "provenance,machine,seed,workload,unit,scheme,cores,updates_percent,\
             throughput_per_s,user,sys,idle"
        )
    );
    let rows: Vec<&str> = lines.collect();
    assert_eq!(rows.len(), 4);
    for (row, point) in rows.iter().zip(["stock,1", "stock,2", "ldu-global,1", "ldu-global,2"]) {
        let start = format!("simulated,xeon-e7-8870v2-8s,1,aim7,jobs,{point},100.0,");
        assert!(row.starts_with(&start), "{row}");
    }
    let json: Value = serde_json::from_str(&text_of("ldu.json")).unwrap();
    assert_eq!(json["points"].as_array().unwrap().len(), 4);
    let by_cores = text_of("ldu.svg");
    assert!(by_cores.contains("jobs per second against cores, by scheme"), "{by_cores}");
    assert!(by_cores.contains("simulated on machine xeon-e7-8870v2-8s, seed 1"));
    let updates = path("ldu-updates.svg");
    let words = ["--workload", "aim7", "--cores", "2", "--scheme", "stock", "--updates", "75,100"];
    simulate(&[&words[..], &["-o", updates.to_str().unwrap()]].concat());
    let by_updates = text_of("ldu-updates.svg");
    assert!(by_updates.contains("aim7 on 2 cores by updates"), "{by_updates}");
}

#[test]
fn the_page_has_the_chart_the_tables_and_the_sources() {
    let (printed, page) = printed_and_page();
    let titles = printed.split("\n\n").map(|part| part.lines().next().unwrap());
    for title in titles.filter(|title| !title.is_empty()) {
        assert!(page.contains(&format!("<h2>{title}</h2>")), "no '{title}'");
    }
    assert_eq!(page.matches("class=\"chart\"").count(), 1);
    for part in ["ldu-global", "forks for each unit", "8 Intel Xeon E7-8870", "kilocore-lab ldu"] {
        assert!(page.contains(part), "no '{part}'");
    }
    assert!(!page.contains("src=") && !page.contains("href="), "it needs no other file");
}

#[test]
fn bad_input_is_refused_with_the_mend() {
    let exim = ["--workload", "exim"];
    let with = |extra: &[&'static str]| [&exim[..], extra].concat();
    let all = "known are stock, mutex, harris-ordered, harris-unordered, oplog, flat-combining, \
               ldu-global, ldu-exclusive, ldu-prompt, ldu-per-core, ldu-combined, ldu-adaptive";
    refused(&with(&["--scheme", "stock,ldu"]), &["unknown scheme `ldu`", all]);
    refused(&with(&["--updates", "0"]), &["0 % updates", "more than 0, and at most 100"]);
    refused(&with(&["--updates", "-5"]), &["-5 % updates", "more than 0"]);
    refused(&with(&["--updates", "50,101"]), &["101 % updates", "at most 100"]);
    refused(&with(&["--updates", "99..50"]), &["99..50", "backwards"]);
    refused(&with(&["--updates", "10..20"]), &["10..20", "50, 66, 75"]);
    refused(&with(&["--updates", "most"]), &["most", "50..99"]);
    refused(&with(&["--cores", "1,121"]), &["120 hardware threads", "121", "1 to 120"]);
    refused(&with(&["--cores", "0"]), &["0 cores"]);
    refused(&with(&["--machine", "xeon"]), &["xeon", "xeon-e7-8870v2-8s"]);
    refused(&["--workload", "aim9"], &["did you mean `aim7`?", "aim7, exim, lmbench-fork"]);
    refused(&[], &["--workload"]);
}

#[test]
fn files_of_other_kinds_are_refused_before_the_work() {
    for name in ["ldu.docx", "ldu"] {
        let path = path(name);
        let words = ["--workload", "exim", "--output", path.to_str().unwrap()];
        refused(&words, &[name, ".html, .svg, .csv, .json or .md"]);
        assert!(!path.exists());
    }
    refused(&["--workload", "exim", "--output", "/nonexistent/ldu.csv"], &["folder that exists"]);
}
