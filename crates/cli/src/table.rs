//! Columns of text, aligned by what a terminal shows.

use std::fmt;

use console::measure_text_width;

/// Rows of cells under a head. The last column is not padded.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
    right: &'static [usize],
}

impl Table {
    /// A table with these columns; those numbered in `right` are aligned to the right.
    pub(crate) fn new(head: &[&str], right: &'static [usize]) -> Self {
        Self { rows: vec![head.iter().map(|cell| (*cell).to_owned()).collect()], right }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| measure_text_width(cell)).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let pad = " ".repeat(width.saturating_sub(measure_text_width(cell)));
                let (before, after) =
                    if self.right.contains(&column) { (pad.as_str(), "") } else { ("", &*pad) };
                line.push_str(if column == 0 { "" } else { "  " });
                line.push_str(before);
                line.push_str(cell);
                line.push_str(after);
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn columns_stand_under_each_other_in_any_script() {
        let mut table = Table::new(&["member", "in", "note"], &[1]);
        table.row(["总经理".into(), "5".into(), "done".into()]);
        table.row(["Project manager".into(), "1,234".into(), String::new()]);
        expect![[r"
            member              in  note
            总经理               5  done
            Project manager  1,234
        "]]
        .assert_eq(&table.to_string());
    }
}
