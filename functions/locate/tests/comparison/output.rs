//! What others read: folded stacks, the document, rows and Markdown.

use kilocore_locate::{ComparisonDocument, LocateReport, Options, compare, folded};
use kilocore_show::{Generated, Report};

use crate::profiles::{profile, run};

#[test]
fn folded_lines_are_sorted_and_made_for_equal_work() {
    let base = run("base", profile(&[("main;b", 10, 10), ("main;a;operator;", 5, 7)]), 2);
    let scaled = run("scaled", profile(&[("main;b", 60, 60), ("main;c", 1, 1)]), 6);
    let comparison = compare(&[base], &[scaled], &Options::default()).unwrap();
    assert_eq!(folded(&comparison), "main;a;operator; 21 0\nmain;b 30 60\nmain;c 0 1\n");
}

#[test]
fn the_document_says_enough_to_add_up_losses() {
    let base = run("base", profile(&[("main;hot", 700, 7000), ("main", 300, 3000)]), 3);
    let scaled = run("scaled", profile(&[("main;hot", 900, 9000), ("main", 100, 1000)]), 2);
    let comparison = compare(&[base], &[scaled], &Options::default()).unwrap();
    let document = serde_json::to_value(ComparisonDocument::of(&comparison)).unwrap();
    assert_eq!(document["schema"], "kilocore-locate-1");
    assert_eq!(document["base"]["work"], "3");
    let functions = document["functions"].as_array().unwrap();
    let names: Vec<&str> = functions.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["hot", "main"]);
    let weight = |function: usize, side: &str| {
        functions[function]["exclusive"][side]["weight"].as_u64().unwrap()
    };
    assert_eq!(weight(0, "base") + weight(1, "base"), document["base"]["weight"].as_u64().unwrap());
    assert_eq!(weight(0, "scaled"), 9000);
    let contexts = document["contexts"].as_array().unwrap();
    assert_eq!(contexts[0]["caller"], serde_json::Value::Null);
    assert_eq!(contexts[1]["caller"], 0);
    assert_eq!(functions[contexts[1]["function"].as_u64().unwrap() as usize]["name"], "hot");
}

#[test]
fn rows_and_tables_name_each_function_as_it_is_called() {
    let base = run("base", profile(&[("main;Vec<T>::push|x", 700, 7000)]), 1);
    let scaled = run("scaled", profile(&[("main;Vec<T>::push|x", 900, 9000)]), 1);
    let comparison = compare(&[base], &[scaled], &Options::default()).unwrap();
    let generated =
        Generated { by: "kilocore 0.1.0".to_owned(), command: "compare a b".to_owned(), at: None };
    let report = LocateReport { generated, title: "a_b".to_owned(), comparison: &comparison };
    let csv = report.csv().unwrap();
    let (names, rows) = csv.split_once('\n').unwrap();
    assert!(names.starts_with("provenance,function,object,measure,base_samples,"), "{names}");
    assert!(rows.starts_with("measured,Vec<T>::push|x,"), "{rows}");
    assert!(rows.contains(",700,900,7000.0,9000.0,2000.0,"), "{rows}");
    let text = report.markdown().unwrap();
    let begin = "# a_b\n\nTwo sampled profiles, compared per unit of work. Made by kilocore 0.1.0 with \
                 `compare a b`.\n";
    assert!(text.starts_with(begin), "{text}");
    let rows = text.lines().filter(|line| line.contains("`Vec<T>::push\\|x` |"));
    let inclusive: Vec<bool> =
        rows.map(|row| row.replace("\\|", "").matches('|').count() == 9).collect();
    assert_eq!(inclusive, [false, true], "the program's code, and all functions: {text}");
    assert!(text.contains("| --- | --- | --: | --: |"), "{text}");
    assert!(text.contains("\n## Mind\n\n- "), "{text}");
}
