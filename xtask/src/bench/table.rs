//! The table for people, which is Markdown: `docs/performance.md` holds the newest one.

use std::fmt::Write;

use super::row::{Row, Target};

/// The rows as a Markdown table.
pub(crate) fn render(rows: &[Row]) -> String {
    let mut table = String::from(
        "| figure | | median | lowest–highest | target | how |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    let mut last = "";
    for row in rows {
        let figure = if row.figure == last { "" } else { &row.figure };
        last = &row.figure;
        let range = if row.samples > 1 {
            format!("{}–{} ({})", number(row.low), number(row.high), row.samples)
        } else {
            String::new()
        };
        let target = match row.target {
            None => String::new(),
            Some(Target::AtMost(most)) => format!("≤ {}{}", number(most), mark(row)),
            Some(Target::AtLeast(least)) => format!("≥ {}{}", number(least), mark(row)),
        };
        let Row { what, unit, how, .. } = row;
        // Writing to a string cannot fail.
        let _ = writeln!(
            table,
            "| {figure} | {what} | {} {unit} | {range} | {target} | {how} |",
            number(row.median)
        );
    }
    table
}

fn mark(row: &Row) -> &'static str {
    match row.met() {
        Some(false) => " **missed**",
        Some(true) | None => "",
    }
}

/// Three digits that matter, with thin groups of thousands.
fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1_000.0 {
        let text = format!("{value:.0}");
        let (sign, digits) = text.split_at(usize::from(value < 0.0));
        let mut grouped = String::from(sign);
        for (place, digit) in digits.chars().enumerate() {
            if place > 0 && (digits.len() - place).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        return grouped;
    }
    let decimals = match size {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    /// Would fail if a missed target looked like one that is met, or the other way round.
    #[test]
    fn what_is_missed_is_marked() {
        let row = |what, samples, target| Row { target, ..Row::of("speed", what, "ms", samples) };
        let rows = [
            row("good", vec![0.25, 0.5, 0.125], Some(Target::AtMost(0.3))),
            row("slow", vec![1_234_567.0], Some(Target::AtMost(250.0))),
            row("rare", vec![12.5, 99.5], Some(Target::AtLeast(100.0))),
            row("free", vec![100.0], None),
        ];
        expect![[r"
            | figure | | median | lowest–highest | target | how |
            | --- | --- | --- | --- | --- | --- |
            | speed | good | 0.25 ms | 0.125–0.5 (3) | ≤ 0.3 |  |
            |  | slow | 1,234,567 ms |  | ≤ 250 **missed** |  |
            |  | rare | 99.5 ms | 12.5–99.5 (2) | ≥ 100 **missed** |  |
            |  | free | 100 ms |  |  |  |
        "]]
        .assert_eq(&render(&rows));
    }
}
