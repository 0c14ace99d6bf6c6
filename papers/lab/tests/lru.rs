//! `kilocore-lab lru` on a few threads of the paper's machines.

use crate::common;

use std::path::{Path, PathBuf};

use common::lab;

use serde_json::Value;

/// `words`, as an experiment.
fn lru<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&["lru"], words].concat()
}

#[track_caller]
fn simulate(words: &[&str]) -> String {
    let output = lab(&lru(words));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn refused(words: &[&str], parts: &[&str]) {
    common::refused(&lru(words), parts);
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

const FEW: [&str; 6] = ["--cores", "1,64", "--variant", "stock,finer", "--factor", "8,256"];

#[test]
fn the_document_has_points_parameters_and_the_published_claims() {
    let document: Value =
        serde_json::from_str(&simulate(&[&FEW[..], &["--json"]].concat())).unwrap();
    assert_eq!(document["provenance"], "simulated");
    assert_eq!(document["machine"], "knl-7210");
    assert_eq!(document["seed"], 1);
    assert_eq!(document["pattern"], "seq-write");
    for parameter in document["parameters"].as_array().unwrap() {
        for key in ["name", "value", "source"] {
            assert!(!parameter[key].as_str().unwrap().is_empty(), "{parameter}");
        }
    }
    let points = document["points"].as_array().unwrap();
    let of = |variant: &str, factor: u64, threads: u64| {
        let found = points.iter().filter(|point| {
            point["variant"] == variant && point["factor"] == factor && point["threads"] == threads
        });
        let found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "{variant} {factor} {threads}");
        let figure = |key: &str| found[0][key].as_f64().unwrap();
        (figure("throughput_mb_per_s"), figure("lock_wait_share"))
    };
    assert_eq!(points.len(), 2 + 2 * 2, "stock has no factor");
    let (stock, finer) = (of("stock", 1, 64), of("finer", 256, 64));
    assert!(finer.0 > 1.7 * stock.0 && finer.0 > 40.0 * of("finer", 256, 1).0, "{points:?}");
    assert!(stock.1 > 0.9 && finer.1 < 0.2, "{points:?}");
    let published = &document["published"];
    assert_eq!(published["provenance"], "published");
    assert_eq!(published["stock_grows_to"], serde_json::json!([32, 64]));
    assert_eq!(published["finer_over_stock"], serde_json::json!([1.7, 2.4]));
}

#[test]
fn the_same_command_prints_the_same_bytes() {
    for pattern in ["seq-write", "rand-write", "read"] {
        let words = ["--workload", pattern, "--cores", "1,5", "--factor", "4", "--json"];
        let once = simulate(&words);
        assert_eq!(once, simulate(&words));
        assert_ne!(once, simulate(&[&words[..], &["--seed", "2"]].concat()));
    }
}

#[test]
fn a_point_is_the_same_alone_and_in_company() {
    let points = |variants: &str, threads: &str| {
        let words = ["--variant", variants, "--cores", threads, "--factor", "8", "--json"];
        let document: Value = serde_json::from_str(&simulate(&words)).unwrap();
        document["points"].as_array().unwrap().clone()
    };
    let company = points("stock,finer-v1,finer-sorted", "2,65");
    for variant in ["stock", "finer-v1", "finer-sorted"] {
        // The host's threads share the points of a sweep, each after others.
        let [alone] = &points(variant, "65")[..] else { panic!("one point was asked for") };
        assert!(company.contains(alone), "{alone} is not in {company:?}");
    }
}

#[test]
fn every_table_says_where_its_figures_come_from() {
    let text = simulate(&FEW);
    // A table is a title, which is the line above the names of columns, and rows.
    let titles: Vec<&str> = text.split("\n\n").map(|part| part.lines().next().unwrap()).collect();
    assert_eq!(titles.len(), 3 + 1, "three with both factors, and one by factor: {text}");
    for title in &titles {
        assert!(title.contains("simulated"), "{title}");
    }
    for part in [
        "seq-write: MB per second by threads (simulated on machine knl-7210, seed 1)",
        "published: stock grows up to 32 to 64 threads, then falls",
        "published, all threads: stock most of it; improved, factor 256, up to 20 %",
        "published, improved, factor 256: 1.70 × to 2.40 × with 64 to 256 threads",
        "published: the first version is fastest with factor 8",
    ] {
        assert!(text.contains(part), "no '{part}' in:\n{text}");
    }
    let xeon = simulate(&["--machine", "xeon-gold-6338-1s", "--cores", "2"]);
    assert!(xeon.contains("improved, factor 64: about 2.00 × with 64 threads"), "{xeon}");
    let names = ["stock", "finer-v1", "finer-v1-grouped", "finer", "finer-sorted", "finer-hashed"];
    for name in names {
        assert!(xeon.contains(name), "all variants if none is named: {xeon}");
    }
}

#[test]
fn what_the_paper_says_of_writes_is_not_said_of_others() {
    let reads = simulate(&[&FEW[..], &["--workload", "read"]].concat());
    assert!(!reads.contains("waiting for locks"), "nothing is added: {reads}");
    assert!(reads.contains("published: reads are not hurt"), "{reads}");
    let other = ["--machine", "epyc-7742-2s", "--cores", "2"];
    assert!(!simulate(&other).contains("published"), "the paper has not the machine");
}

#[test]
fn folios_of_two_pages_are_worse_for_one_lock_and_not_for_many() {
    let rates = |order: &str, more: &[&str]| {
        let words = ["--cores", "64", "--factor", "256", "--variant", "stock,finer", "--json"];
        let printed = simulate(&[&words[..], &["--folio-order", order], more].concat());
        let document: Value = serde_json::from_str(&printed).unwrap();
        let pages = 1 << order.parse::<u64>().unwrap();
        assert_eq!(document["folio_pages"], pages);
        assert_eq!(document["folios_wait"], !more.is_empty());
        // What is published is about single pages.
        assert_eq!(document["published"].is_null(), pages > 1);
        let points = document["points"].as_array().unwrap();
        assert!(points.iter().all(|point| point["folio_pages"] == pages), "{points:?}");
        [0, 1].map(|point| points[point]["throughput_mb_per_s"].as_f64().unwrap())
    };
    let ([stock, finer], [stock_in_pairs, finer_in_pairs]) = (rates("0", &[]), rates("1", &[]));
    assert!(stock_in_pairs < 0.8 * stock, "a page at a time they wait in batches");
    assert!(finer_in_pairs > finer);
    let [stock_that_waits, _] = rates("1", &["--folios-wait"]);
    assert!(stock_that_waits > 1.5 * stock, "so do pairs, if they may");
}

#[test]
fn files_are_written_by_their_ending() {
    let text_of = |name: &str| std::fs::read_to_string(path(name)).expect("the file is there");
    let files =
        ["lru.csv", "lru.json", "lru.svg"].map(|name| format!("--output={}", path(name).display()));
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    simulate(&[&FEW[..], &files].concat());
    let csv = text_of("lru.csv");
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some(
            "provenance,machine,seed,pattern,folio_pages,folios_wait,variant,factor,threads,throughput_mb_per_s,\
             lock_wait_share"
        )
    );
    let rows: Vec<&str> = lines.collect();
    let starts =
        ["stock,1,1", "stock,1,64", "finer,8,1", "finer,8,64", "finer,256,1", "finer,256,64"];
    assert_eq!(rows.len(), starts.len());
    for (row, point) in rows.iter().zip(starts) {
        let start = format!("simulated,knl-7210,1,seq-write,1,false,{point},");
        assert!(row.starts_with(&start), "{row}");
    }
    let json: Value = serde_json::from_str(&text_of("lru.json")).unwrap();
    assert_eq!(json["points"].as_array().unwrap().len(), 6);
    let chart = text_of("lru.svg");
    for part in ["MB per second against threads, by variant", "seq-write with factor 256"] {
        assert!(chart.contains(part), "no '{part}' in:\n{chart}");
    }
    assert!(chart.contains("simulated on machine knl-7210, seed 1"));
}

#[test]
fn the_page_has_the_chart_the_tables_and_the_sources() {
    let page = path("lru page.html");
    let file = format!("--output={}", page.display());
    let printed = simulate(&[&FEW[..], &[&file]].concat());
    let page = std::fs::read_to_string(page).expect("the file is there");
    let titles = printed.split("\n\n").map(|part| part.lines().next().unwrap());
    for title in titles.filter(|title| !title.is_empty()) {
        assert!(page.contains(&format!("<h2>{title}</h2>")), "no '{title}'");
    }
    assert_eq!(page.matches("class=\"chart\"").count(), 1);
    for part in ["frames of a batch", "calibrated", "Intel Xeon Phi 7210", "kilocore-lab lru"] {
        assert!(page.contains(part), "no '{part}'");
    }
    assert!(!page.contains("src=") && !page.contains("href="), "it needs no other file");
}

#[test]
fn bad_input_is_refused_with_the_mend() {
    let all = "Known are stock, finer-v1, finer-v1-grouped, finer, finer-sorted, finer-hashed";
    refused(&["--variant", "stock,finest"], &["unknown variant `finest`", all]);
    refused(&["--workload", "write"], &["unknown pattern `write`", "seq-write, rand-write, read"]);
    refused(&["--factor", "0"], &["0 stripes", "choose 1 to 65536"]);
    refused(&["--factor", "8,70000"], &["70000 stripes", "choose 1 to 65536"]);
    refused(&["--factor", "many"], &["'many'", "8,32,256"]);
    refused(&["--cores", "1,257"], &["256 hardware threads", "257", "1 to 256"]);
    refused(&["--cores", "0"], &["0 cores"]);
    refused(&["--machine", "knl"], &["knl", "knl-7210"]);
    refused(&["--folio-order", "5"], &["--folio-order", "a number from 0 to 4"]);
    let random = ["--folio-order", "1", "--workload", "rand-write"];
    refused(&random, &["rand-write has single pages", "only seq-write has folios"]);
    refused(&["--seed", "one"], &["--seed", "one"]);
}

#[test]
fn files_of_other_kinds_are_refused_before_the_work() {
    for name in ["lru.docx", "lru"] {
        let path = path(name);
        refused(&["--output", path.to_str().unwrap()], &[name, ".html, .svg, .csv, .json or .md"]);
        assert!(!path.exists());
    }
    refused(&["--output", "/nonexistent/lru.csv"], &["folder that exists"]);
}
