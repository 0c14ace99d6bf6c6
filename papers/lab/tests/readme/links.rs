//! What the pages refer to is there: links, headings, files that are named, and the lines of indexes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::root;

/// The folders below `docs`, each with an index of its pages.
const FOLDERS: [&str; 3] = ["guide", "formats", "evidence"];

/// What is made by builds and tools, what is not text, and pages that programs fill in.
fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with('.') || matches!(name, "target" | "data" | "templates")
}

/// All files of the repository whose names `wanted` says yes to.
fn files(folder: &Path, wanted: &impl Fn(&Path) -> bool, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.expect("it can be read").path();
        if path.is_dir() && !is_left_out(&path) {
            files(&path, wanted, found);
        } else if path.is_file() && wanted(&path) {
            found.push(path);
        }
    }
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|is| endings.contains(&is))
}

/// The Markdown pages, of data as well.
fn pages() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root(), &|path| has_ending(path, &["md"]), &mut found);
    files(&root().join("data"), &|path| has_ending(path, &["md"]), &mut found);
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The lines of a page that are not in code blocks.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut in_block = false;
    page.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        !in_block && !fence
    })
}

/// A line without what stands in code spans.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// Where the links of a page lead to, as they are written.
fn links(page: &str) -> Vec<String> {
    let text: Vec<String> = prose(page).map(without_code).collect();
    let text = text.join("\n");
    let ends = text.split("](").skip(1);
    ends.filter_map(|rest| rest.split([')', ' ', '\n']).next()).map(str::to_owned).collect()
}

/// The names by which links refer to the headings of a page, as forges make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for heading in prose(page).filter(|line| line.starts_with('#')) {
        let title = heading.trim_start_matches('#').trim().to_lowercase();
        let name: String = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let again = (1..).map(|n| format!("{name}-{n}")).find(|name| !anchors.contains(name));
        let name = if anchors.contains(&name) { again.expect("numbers do not end") } else { name };
        anchors.insert(name);
    }
    anchors
}

/// A path without `..` in it, as a link from one folder to another has.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

/// What is wrong with the relative links of a page.
fn broken(place: &Path, page: &str) -> Vec<String> {
    let mut broken = Vec::new();
    for link in links(page).into_iter().filter(|link| !link.contains(':')) {
        let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
        let folder = place.parent().expect("a page is in a folder");
        let to = if path.is_empty() { place.to_owned() } else { plain(&folder.join(path)) };
        let is_page = has_ending(&to, &["md"]);
        let known = |anchor: &str| {
            let text = if to == place { page.to_owned() } else { read(&to) };
            anchors(&text).contains(anchor)
        };
        let is_there = to == place || to.exists();
        if !is_there {
            broken.push(format!("{}: nothing is at `{link}`", place.display()));
        } else if !anchor.is_empty() && is_page && !known(anchor) {
            broken.push(format!("{}: `{link}` names no heading there", place.display()));
        }
    }
    broken
}

#[test]
fn every_relative_link_leads_somewhere() {
    let pages = pages();
    assert!(pages.len() >= 40, "the pages are found: {pages:?}");
    let links: usize = pages.iter().map(|page| links(&read(page)).len()).sum();
    assert!(links >= 150, "their links are found: {links}");
    let broken: Vec<String> = pages.iter().flat_map(|page| broken(page, &read(page))).collect();
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn a_broken_link_is_seen() {
    let page = "# A page\n\n## A `name`, twice\n## A `name`, twice\n\
                [to nothing](no/such.md), ![nor there](missing.svg), [a heading](#a-name-twice-1), \
                [no heading](#another), [the map](ARCHITECTURE.md#the-one-rule), \
                [not on it](ARCHITECTURE.md#two-rules), [outside](https://example.org/x.md), \
                `[code](no.md)`\n```\n[code](no.md)\n```\n";
    let broken = broken(&root().join("PAGE.md"), page);
    assert_eq!(broken.len(), 4, "{broken:#?}");
    for wrong in ["no/such.md", "missing.svg", "#another", "#two-rules"] {
        assert!(broken.iter().any(|line| line.contains(wrong)), "{wrong}: {broken:#?}");
    }
}

/// The cells of the table below `heading`, without its head.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let lines = page.lines().skip_while(|line| *line != heading).skip(1);
    let rows = lines.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().into()).collect();
    rows.skip(2).map(cells).collect()
}

#[test]
fn the_map_sends_nobody_to_files_that_are_not_there() {
    let rows = table(&read(&root().join("ARCHITECTURE.md")), "## Change X, go to Y");
    assert!(rows.len() >= 12, "the table is found: {rows:?}");
    for row in &rows {
        let named: Vec<&str> = row[1].split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "it names no file: {row:?}");
        for path in named {
            assert!(root().join(path).exists(), "`{path}` is not there: {row:?}");
        }
    }
}

#[test]
fn indexes_name_every_page() {
    for folder in FOLDERS {
        let folder = root().join("docs").join(folder);
        let index = read(&folder.join("README.md"));
        let named: BTreeSet<String> = links(&index).into_iter().collect();
        let mut found = Vec::new();
        files(&folder, &|path| has_ending(path, &["md"]), &mut found);
        for page in found {
            let name = page.strip_prefix(&folder).expect("it is below").to_str().expect("letters");
            assert!(name == "README.md" || named.contains(name), "{name} is not in the index");
        }
    }
}

/// The paths below `docs` that a text names, as far as they name a file.
fn named_pages(text: &str) -> Vec<String> {
    let is_of_a_path = |c: char| c.is_alphanumeric() || "/-_.".contains(c);
    let mut named = Vec::new();
    for (at, _) in text.match_indices("docs/") {
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || "/-_.$}".contains(c)) {
            continue;
        }
        let end = text[at..].find(|c| !is_of_a_path(c)).map_or(text.len(), |length| at + length);
        let path = text[at..end].trim_end_matches(['.', '-']);
        if [".md", ".toml", ".cpp"].iter().any(|ending| path.ends_with(ending)) {
            named.push(path.to_owned());
        }
    }
    named
}

#[test]
fn pages_that_sources_name_are_there() {
    let is_text = |path: &Path| {
        has_ending(path, &["rs", "md", "toml", "h", "c", "sh", "csv", "py"])
            || path.file_name().is_some_and(|name| name == "Makefile")
            || path.parent().is_some_and(|folder| folder.ends_with("tools"))
    };
    let mut found = Vec::new();
    files(&root(), &is_text, &mut found);
    let (mut count, mut missing) = (0, Vec::new());
    for file in found {
        // Programs beside the scripts in `tools` are no text.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for path in named_pages(&text) {
            count += 1;
            if !root().join(&path).exists() {
                missing.push(format!("{} names {path}", file.display()));
            }
        }
    }
    assert!(count >= 50, "the names are found: {count}");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn what_people_read_first_is_short() {
    for (page, most) in [("README.md", 150), ("ARCHITECTURE.md", 200)] {
        let lines = read(&root().join(page)).lines().count();
        assert!(lines <= most, "{page} has {lines} lines, {most} at most");
    }
}
