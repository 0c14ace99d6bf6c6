//! A result as a document in Markdown, to be put into an issue or into a page with marks.

use super::{code, marked, of_columns, prose};
use crate::terminal::columns::Column;
use crate::{Generated, Table};

/// A document that is written from its title to its end. Text that it is given is shown as [`prose`].
#[derive(Debug)]
pub struct Document {
    blocks: Vec<String>,
}

impl Document {
    /// Begins with the title, what the document is, and how it was made.
    #[must_use]
    pub fn new(title: &str, subject: &str, generated: &Generated) -> Self {
        let Generated { by, command, .. } = generated;
        let made = format!("{}. Made by {by} with {}.", prose(subject), code(command));
        Self { blocks: vec![format!("# {}", prose(title)), made] }
    }

    /// Begins a section.
    pub fn heading(&mut self, text: &str) {
        self.blocks.push(format!("## {}", prose(text)));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        self.blocks.push(prose(text));
    }

    /// Adds a command that is to be copied.
    pub fn command(&mut self, command: &str) {
        self.blocks.push(format!("    {}", crate::text::printable(command)));
    }

    /// Adds a section of things to be listed; nothing if there are none.
    pub fn list<T: ToString>(&mut self, heading: &str, items: &[T]) {
        if !items.is_empty() {
            self.heading(heading);
            let items = items.iter().map(|item| format!("- {}", prose(&item.to_string())));
            self.blocks.push(items.collect::<Vec<_>>().join("\n"));
        }
    }

    /// Adds a table with its title. A name has it as a mark, so that a page may take it over.
    pub fn table(&mut self, table: &Table) {
        if !table.rows.is_empty() {
            self.titled(&table.title_with_mark());
            let rows = table.markdown();
            self.blocks.push(match &*table.name {
                "" => rows,
                name => marked(name, &rows),
            });
        }
        table.below.iter().for_each(|sentence| self.paragraph(sentence));
    }

    /// Adds a table of these columns, below a title if there is one.
    pub fn columns(&mut self, title: &str, columns: &[Column]) {
        if !title.is_empty() {
            self.titled(title);
        }
        self.blocks.push(of_columns(columns));
    }

    fn titled(&mut self, title: &str) {
        self.blocks.push(format!("**{}**", prose(title)));
    }

    /// Returns the whole text.
    #[must_use]
    pub fn finish(self) -> String {
        let blocks: Vec<&str> = self.blocks.iter().map(|block| block.trim_end()).collect();
        blocks.join("\n\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::Document;
    use crate::Generated;
    use crate::terminal::columns::{Align, Column};

    #[test]
    fn foreign_text_is_shown_and_not_obeyed() {
        let (by, command) = ("kilocore 1".to_owned(), "run `x` '<b>'".to_owned());
        let mut document =
            Document::new("a_b of <b>", "On *m*", &Generated { by, command, at: None });
        document.columns(
            "times of x::y",
            &[
                Column::new("what", Align::Left, &["Vec<T> | x"], ToString::to_string),
                Column::new("time", Align::Right, &["< 0.1 %"], ToString::to_string),
            ],
        );
        document.command("sh -c '*'");
        document.list("Mind", &["__lock", "plain"]);
        document.list::<String>("Not there", &[]);
        let expected = "# a_b of `<b>`\n\n\
            On `*m*`. Made by kilocore 1 with `` run `x` '<b>' ``.\n\n\
            **times of `x::y`**\n\n\
            | what | time |\n| --- | --: |\n| `Vec<T>` \\| x | < 0.1 % |\n\n    \
            sh -c '*'\n\n## Mind\n\n- `__lock`\n- plain\n";
        assert_eq!(document.finish(), expected);
    }
}
