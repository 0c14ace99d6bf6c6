//! Figures of a plan, and what of them is refused before anything is run.

use std::path::PathBuf;

use kilocore_sweep_plan::{Plan, Value};

const RUN: &str = "[[run]]\ncommand = 'kilocore forecast db.json --lock {lock}'\noutput = ['runs/{lock}.csv', \
                   'runs/{lock}.json']\nover.lock = ['mcs', 'cna']\n";

fn plan(figure: &str) -> Result<Plan, String> {
    Plan::parse(&format!("{RUN}[[figure]]\n{figure}"), "plan.toml")
        .map_err(|error| error.to_string())
}

#[test]
fn a_figure_names_columns_and_files() {
    let plan = plan(
        "output = ['all.svg', 'all.MD']\ntitle = 'All'\nx = 'cores'\ny = 'throughput_per_s'\nline = ['lock', \
         'seed']\nchart = 'machine'\nonly = [{ lock = ['mcs', 'cna'], cores = '<= {most}' }]\nskip = [{ seed = 3 }]\n",
    )
    .expect("it is a plan");
    let [figure] = &plan.figures[..] else { panic!("{plan:?}") };
    assert_eq!(figure.line, 6);
    assert_eq!(figure.files, ["all.svg", "all.MD"].map(PathBuf::from));
    let columns: Vec<&str> = figure.columns().collect();
    assert_eq!(columns, ["machine", "lock", "seed", "cores", "throughput_per_s"]);
    let conditions: Vec<&str> = figure.columns_of_conditions().into_iter().collect();
    assert_eq!(conditions, ["cores", "lock", "most", "seed"]);
    let takes = |lock: &str, cores: &str, seed: &str| {
        let values = [("lock", lock), ("cores", cores), ("seed", seed), ("most", "8")];
        let values = values.map(|(name, value)| (name, Value::from(value)));
        let value = |name: &str| values.iter().find(|(own, _)| *own == name).map(|(_, it)| it);
        figure.takes(&value)
    };
    assert_eq!(takes("mcs", "8", "1"), Ok(true));
    assert_eq!(takes("futex", "8", "1"), Ok(false));
    assert_eq!(takes("cna", "9", "1"), Ok(false));
    assert_eq!(takes("cna", "8", "3.0"), Ok(false));
    let error = takes("cna", "all", "1").expect_err("no number");
    assert!(error.to_string().contains("'all' is no number"), "{error}");
    assert_eq!(plan.runs[0].answer.table(), Some("runs/mcs.csv".as_ref()));
}

#[test]
fn what_can_be_known_before_is_refused_with_its_line() {
    let with = |output: &str| format!("output = {output}\nx = 'cores'\ny = 'throughput_per_s'\n");
    let and = |more: &str| format!("{}{more}\n", with("'all.svg'"));
    for (figure, line, part) in [
        (with("'all.pdf'"), 6, "`.pdf` is not one of them"),
        (with("'all'"), 6, "this one has none"),
        (with("[]"), 6, "'output' is no text"),
        (with("['all.svg', 3]"), 6, "'output' is no text"),
        (with("'../all.svg'"), 6, "no file below the plan's folder"),
        (with("'{lock}.svg'"), 6, "chart = \"lock\""),
        (with("'runs/cna.json'"), 6, "the run of line 2"),
        (with("'runs/cna.json/all.svg'"), 6, "the run of line 2"),
        (with("['all.svg', 'all.svg']"), 6, "the same figure"),
        (format!("{}[[figure]]\n{}", and(""), with("'all.svg'")), 11, "another figure"),
        ("output = 'all.svg'\nx = '{cores}'\ny = 'a'\n".to_owned(), 7, "'x' is '{cores}'"),
        ("output = 'all.svg'\nx = 'cores'\ny = 'a b'\n".to_owned(), 8, "'y' is 'a b'"),
        ("output = 'all.svg'\nx = 'cores'\n".to_owned(), 5, "y"),
        (and("line = ''"), 9, "'line' is ''"),
        (and("line = 3"), 9, "'line' is no text"),
        (and("chart = ['a', 'a b']"), 9, "'chart' is 'a b'"),
        (and("line = 'a'\nchart = 'a'"), 6, "'a' is named twice"),
        (and("chart = 'cores'"), 6, "'cores' is named twice"),
        (and("line = 'rows'"), 6, "what the figure adds (throughput_per_s_low"),
        (and("only = [{}]"), 9, "empty"),
        (and("skip = [{ a = '> b' }]"), 9, "'a' says nothing"),
        (and("lines = 'a'"), 9, "unknown field `lines`"),
    ] {
        let error = plan(&figure).expect_err(&figure);
        assert!(
            error.contains(part) && error.contains(&format!("line {line}:")),
            "{figure}{error}"
        );
    }
    let without = "[[run]]\ncommand = 'kilocore list machines'\n[[figure]]\noutput = 'a.svg'\nx = 'a'\ny = 'b'\n";
    let error = Plan::parse(without, "plan.toml").expect_err("no table").to_string();
    assert!(error.contains("plan.toml, line 4: ") && error.contains("none writes one"), "{error}");
}
