//! Tables of studies, taken over into a document.

use std::path::{Path, PathBuf};

use super::{Marked, MarkedError};

/// Puts tables of studies into a document. A mark of it names the file, in `folder` and without `.md`, and
/// the table: `<!-- FILE TABLE -->`. A star in the file's name stands for anything: then the rows of all
/// such files stand below each other, by the numbers in their names. `<!-- nodes-* best by nodes -->` puts
/// what the star stands for in front of each row, in a column of that name.
///
/// Returns the marks for which there is no file. What stands there stays.
///
/// # Errors
/// [`MarkedError`] if a file cannot be read or has no such table, or the document cannot be written.
pub fn take_over(document: &Path, folder: &Path) -> Result<Vec<String>, MarkedError> {
    let mut page = Marked::open(document)?;
    let mut left = Vec::new();
    for name in page.names() {
        let words: Vec<&str> = name.split_whitespace().collect();
        let (file, table, column) = match words[..] {
            [file, table] => (file, table, None),
            [file, table, "by", column] => (file, table, Some(column)),
            _ => continue,
        };
        let files = files(folder, file)?;
        if files.is_empty() {
            left.push(name);
            continue;
        }
        let mut rows = Vec::new();
        for (part, path) in files {
            let study = Marked::open(&path)?;
            let lines: Vec<String> = study.between(table)?.lines().map(str::to_owned).collect();
            rows.push((part, lines));
        }
        page.put(&name, &below_each_other(&rows, column))?;
    }
    page.save()?;
    Ok(left)
}

/// The files of a name with a star, and what the star stands for in each.
fn files(folder: &Path, name: &str) -> Result<Vec<(String, PathBuf)>, MarkedError> {
    let Some((before, after)) = name.split_once('*') else {
        let path = folder.join(format!("{name}.md"));
        return Ok(if path.exists() { vec![(String::new(), path)] } else { Vec::new() });
    };
    let system = |cause| MarkedError::System { path: folder.to_owned(), cause };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(system)? {
        let path = entry.map_err(system)?.path();
        let Some(stem) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".md"))
        else {
            continue;
        };
        let part = stem.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        found.extend(part.map(|part| (part.to_owned(), path.clone())));
    }
    found.sort_by_cached_key(|(part, _)| by_numbers(part));
    Ok(found)
}

/// `2` comes before `10`.
fn by_numbers(name: &str) -> Vec<(u64, String)> {
    let is_digit = |a: &u8, b: &u8| a.is_ascii_digit() == b.is_ascii_digit();
    let part = |part: &[u8]| {
        let text = String::from_utf8_lossy(part).into_owned();
        text.parse().map_or_else(|_| (u64::MAX, text), |number| (number, String::new()))
    };
    name.as_bytes().chunk_by(is_digit).map(part).collect()
}

/// Tables with the same columns as one.
fn below_each_other(tables: &[(String, Vec<String>)], column: Option<&str>) -> String {
    let with = |cell: &str, line: &str| match column {
        Some(_) => format!("| {cell} {line}\n"),
        None => format!("{line}\n"),
    };
    let mut text = String::new();
    for (at, (part, lines)) in tables.iter().enumerate() {
        for (number, line) in lines.iter().enumerate() {
            match number {
                0 | 1 if at > 0 => {}
                0 => text += &with(column.unwrap_or_default(), line),
                1 => text += &with("---", line),
                _ => text += &with(&part.replace('-', " "), line),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::take_over;
    use crate::markdown::marked;

    #[test]
    fn tables_of_one_and_of_several_studies_are_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let study = |name: &str, figure: u32| {
            let table = format!("| a | b |\n| --- | --: |\n| x | {figure} |\n");
            let text = format!("# A\n\n{}", marked("best", &table));
            std::fs::write(folder.path().join(name), text).unwrap();
        };
        study("nodes-10.md", 10);
        study("nodes-2.md", 2);
        let page = folder.path().join("page");
        let marks =
            ["nodes-2 best", "nodes-* best by nodes", "gone best"].map(|name| marked(name, "old"));
        std::fs::write(&page, marks.concat()).unwrap();
        assert_eq!(take_over(&page, folder.path()).unwrap(), ["gone best"]);
        let expected = marked("nodes-2 best", "| a | b |\n| --- | --: |\n| x | 2 |")
            + &marked(
                "nodes-* best by nodes",
                "| nodes | a | b |\n| --- | --- | --: |\n| 2 | x | 2 |\n| 10 | x | 10 |",
            )
            + &marked("gone best", "old");
        assert_eq!(std::fs::read_to_string(&page).unwrap(), expected);
        std::fs::write(folder.path().join("gone.md"), "no table").unwrap();
        let missing = take_over(&page, folder.path()).unwrap_err();
        assert!(missing.to_string().contains("gone.md: `<!-- best -->` is missing"), "{missing}");
    }
}
