//! Plans as people write them, and what is refused.

use std::path::{Component, Path, PathBuf};

use kilocore_sweep_plan::{Answer, MOST_BYTES, MOST_RUNS, Plan, PlanError};
use proptest::prelude::*;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "plan.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    match Plan::parse(text, "plan.toml") {
        Ok(plan) => panic!("{plan:?}"),
        Err(error) => error.to_string(),
    }
}

/// The words of each run, joined.
fn commands(plan: &Plan) -> Vec<String> {
    plan.runs.iter().map(|run| run.words.join(" ")).collect()
}

#[test]
fn what_stands_under_with_is_in_all_commands() {
    let plan = plan(
        "with.few = 'mcs,ticket'\nwith.part = 'a b'\n[[run]]\ncommand = 'kilocore x --lock {few} {part} --seed {seed}'\n\
         output = '{few}-{seed}.md'\nover.seed = [1, 2]\n[[after]]\ncommand = 'kilocore-lab tables {part}'\n",
    );
    assert_eq!(plan.runs[1].words[3..5], ["mcs,ticket", "a b"]);
    assert_eq!(plan.runs[1].answer, Answer::Reports(vec![PathBuf::from("mcs,ticket-2.md")]));
    assert_eq!(plan.runs[1].named(), "seed=2");
    assert_eq!(plan.after[0].words[2], "a b");
    let run = "\n[[run]]\ncommand = 'kilocore x {a}'\n";
    for (text, part) in [
        ("with.b = 1\nwith.a = 1", "'b' stands under 'with', but"),
        ("with.a = [1]", "'a' is no value"),
        ("with.2a = 1", "cannot stand in braces"),
    ] {
        let said = refused(&format!("{text}{run}"));
        assert!(said.contains("plan.toml, line 1") && said.contains(part), "{said}");
    }
    let said = refused(&format!("with.a = 1{run}over.a = [1]"));
    assert!(said.contains("line 4") && said.contains("under 'with' already"), "{said}");
}

#[test]
fn commands_after_all_runs_have_no_values() {
    let text = "[[run]]\ncommand = 'kilocore list locks'\n[[after]]\ncommand = \"kilocore-lab tables 'my page.md' a\"\n\
                [[after]]\ncommand = 'kilocore show --output x.html x.json'\n";
    let after = plan(text).after;
    let words: Vec<&str> = after[0].words.iter().map(String::as_str).collect();
    assert_eq!((after[0].line, words), (4, vec!["kilocore-lab", "tables", "my page.md", "a"]));
    assert_eq!((after[1].line, after[1].words.len()), (6, 5));
    for (command, part) in [
        ("kilocore show {lock}.json", "'{lock}' has no value after all runs"),
        ("rm -r figures", "none of Kilocore's"),
        ("kilocore show 'x", "a quote"),
    ] {
        let text = format!(
            "[[run]]\ncommand = 'kilocore list locks'\n[[after]]\ncommand = \"{command}\"\n"
        );
        let said = refused(&text);
        assert!(said.contains("plan.toml, line 4") && said.contains(part), "{said}");
    }
}

#[test]
fn each_combination_is_a_run_and_the_last_name_changes_first() {
    let plan = plan(
        r#"
        folder = "figures"
        [[run]]
        command = "kilocore forecast 'my db.json' --machine {machine} --cores 1-{most} --lock {lock} --seed {seed}"
        output = ["{machine}/{lock}-{seed}.json", "{machine}/{lock}-{seed}.svg"]
        over.seed = "1-3:2"
        over.lock = ["mcs", "pthread"]
        each = [{ machine = "opteron", most = 48 }, { machine = "epyc", most = 128 }]
        skip = [{ lock = "mcs", seed = "> 1" }, { machine = "epyc", lock = ["pthread"] }]
        "#,
    );
    assert_eq!(plan.folder.as_deref(), Some(Path::new("figures")));
    let expected = [
        ("opteron", 48, "mcs", 1),
        ("opteron", 48, "pthread", 1),
        ("opteron", 48, "pthread", 3),
        ("epyc", 128, "mcs", 1),
    ];
    let expected = expected.map(|(machine, most, lock, seed)| {
        format!(
            "kilocore forecast my db.json --machine {machine} --cores 1-{most} --lock {lock} --seed {seed}"
        )
    });
    assert_eq!(commands(&plan), expected);
    let first = &plan.runs[0];
    assert_eq!((first.line, first.words[2].as_str()), (4, "my db.json"));
    assert_eq!(first.named(), "machine=opteron most=48 seed=1 lock=mcs");
    let reports = ["opteron/mcs-1.json", "opteron/mcs-1.svg"].map(PathBuf::from);
    assert_eq!(first.answer, Answer::Reports(reports.into()));
    let words = first.words_with_reports(Path::new("out"));
    let words: Vec<&str> = words.iter().map(|word| word.to_str().expect("text")).collect();
    let options =
        ["--output", "out/opteron/mcs-1.json", "--output", "out/opteron/mcs-1.svg", "--machine"];
    assert_eq!(words[3..8], options);
}

#[test]
fn without_output_the_printed_answer_has_a_file_named_after_its_values() {
    let plan = plan(
        r#"
        [[run]]
        command = "kilocore show {file}"
        over.file = ["a/b.json", "c.json"]
        [[run]]
        command = "kilocore list machines"
        "#,
    );
    let files: Vec<&Path> = plan.runs.iter().map(|run| run.answer.files()[0].as_path()).collect();
    assert_eq!(files, ["a-b.json.txt", "c.json.txt", "run-3.txt"].map(Path::new));
    assert!(plan.runs.iter().all(|run| matches!(run.answer, Answer::Printed(_))));
    assert_eq!(plan.folder, None);
}

#[test]
fn a_program_keeps_its_own_words() {
    let plan = plan(
        r#"
        [[run]]
        command = "kilocore emulate --machine m --cores {n} -- ./p --threads {threads} --output x '{print $1}' '$HOME' *"
        output = "{n}.json"
        over.n = 4
        "#,
    );
    let words = plan.runs[0].words_with_reports(Path::new("/out"));
    let expected = [
        "kilocore",
        "emulate",
        "--output",
        "/out/4.json",
        "--machine",
        "m",
        "--cores",
        "4",
        "--",
        "./p",
        "--threads",
        "{threads}",
        "--output",
        "x",
        "{print $1}",
        "$HOME",
        "*",
    ];
    assert_eq!(words, expected);
}

#[test]
fn a_value_is_one_word_whatever_is_in_it() {
    let plan = plan(
        r#"
        [[run]]
        command = 'kilocore emulate -- ./p {text} "{text}"'
        over.text = ["a b 'c", "{cores}"]
        "#,
    );
    assert_eq!(plan.runs[0].words[4..], ["a b 'c", "a b 'c"]);
    assert_eq!(plan.runs[1].words[4..], ["{cores}", "{cores}"]);
}

#[test]
fn only_keeps_what_one_of_its_tables_says() {
    let plan = plan(
        r#"
        [[run]]
        command = "kilocore simulate --cores {cores} --threads {threads}"
        over.cores = "1-4"
        over.threads = "1-4"
        only = [{ threads = "= {cores}" }, { cores = 4, threads = ">= 3" }]
        "#,
    );
    let pairs: Vec<String> = plan.runs.iter().map(|run| run.named()).collect();
    let expected = ["1 1", "2 2", "3 3", "4 3", "4 4"];
    let expected = expected.map(|pair| {
        let (cores, threads) = pair.split_once(' ').expect("two");
        format!("cores={cores} threads={threads}")
    });
    assert_eq!(pairs, expected);
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_its_mend() {
    for (text, parts) in [
        (
            "[[run]]\ncommand = \"kilocore x {lok}\"",
            ["line 2", "'{lok}' has no values", "over.lok"],
        ),
        (
            "[[run]]\ncommand = \"kilocore x\"\nover.a = [1]",
            ["line 2", "no '{a}' is in the command", "leave"],
        ),
        (
            "[[run]]\ncommand = \"ls {a}\"\nover.a = [1]",
            ["line 2", "none of Kilocore's", "begin with"],
        ),
        ("[[run]]\ncommand = \"kilocore 'x\"", ["line 2", "quote", "write it"]),
        ("[[run]]\ncommand = \"kilocore x --output=y\"", ["line 2", "--output=y", "output = "]),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\nover.a = \"1-x\"",
            ["line 3", "'1-x' is no number", "\"1-9:2, 100\""],
        ),
        ("[[run]]\ncommand = \"kilocore {a}\"\nover.a = []", ["line 3", "empty", "at least one"]),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\nover.a = [[1]]",
            ["line 3", "[1]", "no number and no text"],
        ),
        ("[[run]]\ncommand = \"kilocore {a}\"\nover.a = [1, 1]", ["line 3", "'1'", "twice"]),
        ("[[run]]\ncommand = \"kilocore {a}\"\nover.\"a b\" = [1]", ["line 3", "'a b'", "braces"]),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\neach = [{ a = 1 }, { b = 1 }]",
            ["line 3", "same names", "each table"],
        ),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\neach = [{ a = [1] }]",
            ["line 3", "'a' is no value", "'each'"],
        ),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\nover.a = 1\neach = [{ a = 1 }]",
            ["line 4", "'a' stands", "leave one out"],
        ),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\nover.a = 1\nskip = [{ b = 1 }]",
            ["line 4", "'b'", "no values"],
        ),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\nover.a = ['x']\nskip = [{ a = '> 1' }]",
            ["line 4", "'x' is no number", "greater"],
        ),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\nover.a = \"1-2\"\noutput = \"x.json\"",
            ["line 2", "two runs, a=1 (line 2) and a=2 (line 2)", "{name}"],
        ),
        (
            "[[run]]\ncommand = \"kilocore x\"\noutput = \"x\"\n[[run]]\ncommand = \"kilocore y\"\noutput = \"x/y\"",
            ["line 5", "'x' is the output of two runs", "{name}"],
        ),
        ("[[run]]\ncommand = \"kilocore x\"\noutput = \"../x\"", ["line 2", "'../x'", "folder"]),
        (
            "[[run]]\ncommand = \"kilocore x\"\noutput = 5",
            ["line 3", "'output' is no file", "{name}"],
        ),
        ("[[run]]\ncomand = \"kilocore x\"", ["line 2", "comand", "plans.md"]),
        ("[[run]]\noutput = \"x\"", ["line 1", "command", "plans.md"]),
        ("[[run]", ["line 1", "plan.toml", "plans.md"]),
        ("folder = \"\"\n[[run]]\ncommand = \"kilocore x\"", ["line 1", "empty", "folder's name"]),
        ("", ["plan.toml", "nothing is to be run", "[[run]]"]),
        (
            "[[run]]\ncommand = \"kilocore {a}\"\nover.a = 1\nskip = [{ a = 1 }]",
            ["plan.toml", "nothing is to be run", "skip"],
        ),
        (
            "[[run]]\ncommand = \"kilocore {a} {b}\"\nover.a = \"1-1000\"\nover.b = \"1-1000\"",
            ["line 2", "1000000 combinations", "fewer"],
        ),
    ] {
        let error = refused(text);
        assert!(parts.iter().all(|part| error.contains(part)), "{text}\n{error}");
    }
    let long = "#".repeat(MOST_BYTES + 1);
    assert!(matches!(Plan::parse(&long, "p"), Err(PlanError::Long { .. })));
}

#[test]
fn a_plan_has_as_many_runs_as_it_may() {
    let half = MOST_RUNS / 2;
    let run = format!(
        "[[run]]\ncommand = \"kilocore {{a}}\"\nover.a = \"1-{half}\"\noutput = \"N/{{a}}\"\n"
    );
    let both = format!("{}{}", run.replace('N', "1"), run.replace('N', "2"));
    assert_eq!(plan(&both).runs.len(), MOST_RUNS);
    let error = refused(&format!("{both}[[run]]\ncommand = \"kilocore x\""));
    assert!(error.contains(&format!("more than {MOST_RUNS}")), "{error}");
}

proptest! {
    #[test]
    fn no_text_is_too_bad_to_be_refused(text in "(?s).{0,200}") {
        let _ = Plan::parse(&text, "p");
    }

    #[test]
    fn no_command_or_condition_is_either(
        command in r"kilocore [a-c{}'\\ -]{0,20}",
        output in r"[a{}/.]{0,8}",
        test in r"[<>=! 0-9,:a{}-]{0,8}",
    ) {
        let [command, output, test] = [command, output, test].map(toml::Value::from);
        let text = format!("[[run]]\ncommand = {command}\noutput = {output}\nover.a = [1, 'x']\nskip = [{{ a = {test} }}]");
        if let Ok(plan) = Plan::parse(&text, "p") {
            prop_assert!((1..=2).contains(&plan.runs.len()));
            for file in plan.runs.iter().flat_map(|run| run.answer.files()) {
                let is_below = file.components().all(|part| matches!(part, Component::Normal(_)));
                prop_assert!(is_below, "{file:?}");
            }
        }
    }

    /// What is run is what the product of all values has, less what a person would cross out.
    #[test]
    fn the_runs_are_the_combinations_that_no_condition_leaves_out(
        most in prop::collection::vec(1u64..6, 1..4),
        limit in 0u64..6,
    ) {
        let names: Vec<String> = (0..most.len()).map(|index| format!("v{index}")).collect();
        let braces: String = names.iter().map(|name| format!(" {{{name}}}")).collect();
        let over: String =
            names.iter().zip(&most).map(|(name, most)| format!("over.{name} = \"1-{most}\"\n")).collect();
        let text = format!("[[run]]\ncommand = \"kilocore{braces}\"\n{over}skip = [{{ v0 = '> {limit}' }}]\n");
        let mut expected: Vec<Vec<u64>> = vec![Vec::new()];
        for most in &most {
            expected = expected
                .iter()
                .flat_map(|chosen| (1..=*most).map(move |value| [chosen.as_slice(), &[value]].concat()))
                .collect();
        }
        expected.retain(|values| values[0] <= limit);
        match Plan::parse(&text, "p") {
            Ok(plan) => {
                let values = |run: &kilocore_sweep_plan::PlannedRun| -> Vec<u64> {
                    run.words[1..].iter().map(|word| word.parse().expect("a number")).collect()
                };
                prop_assert_eq!(plan.runs.iter().map(values).collect::<Vec<_>>(), expected);
            }
            Err(PlanError::Empty { .. }) => prop_assert!(expected.is_empty()),
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
