use super::lines::{Line, lines};

/// The headings of `text` in their plain form: what follows `#`, and lines that are bold as a whole.
pub(super) fn headings(text: &str) -> impl Iterator<Item = String> + '_ {
    lines(text).filter_map(|line| match line {
        Line::Prose(line) => heading(line.trim()).map(plain),
        Line::Opens | Line::Fenced(_) | Line::Closes => None,
    })
}

fn heading(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix('#') {
        let rest = rest.trim_start_matches('#');
        return rest.starts_with([' ', '\t', '\u{3000}']).then_some(rest);
    }
    let bold = line.trim_end_matches([':', '：']).strip_prefix("**")?.strip_suffix("**")?;
    (!bold.contains("**")).then_some(bold)
}

/// A heading without what varies: case, emphasis, a number before it, a colon or hashes behind it, blanks.
pub(super) fn plain(heading: &str) -> String {
    let unmarked: String = heading.chars().filter(|c| !matches!(c, '*' | '`' | '_' | '#')).collect();
    let words = without_number(unmarked.trim()).trim().trim_end_matches([':', '：', '.', '。']);
    words.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// `2. Goals`, `2.1 Goals`, `(2) Goals`, `IV. Goals`, `二、目标`, `（二）目标`, `第二章 目标` without the number.
fn without_number(heading: &str) -> &str {
    let open = heading.trim_start_matches(['(', '（', '[']);
    let bracket = open.len() < heading.len();
    let counted = open.strip_prefix('第');
    let digits = counted.unwrap_or(open);
    let number = |c: char| c.is_ascii_digit() || c == '.' || "一二三四五六七八九十百".contains(c);
    let mut rest = digits.trim_start_matches(number);
    let dotted = digits.len() > rest.len() && digits[..digits.len() - rest.len()].contains('.');
    if rest.len() == digits.len() {
        rest = digits.trim_start_matches(['I', 'V', 'X']);
        if !rest.starts_with(['.', ')', '、']) {
            return heading;
        }
    }
    if rest.len() == digits.len() || rest.is_empty() {
        return heading;
    }
    let marked =
        rest.trim_start_matches(['.', ')', '）', ']', '、', '．', ':', '：', '-', '章', '节', '部', '分']);
    let ascii = digits.starts_with(|c: char| c.is_ascii_digit());
    // `3 goals` and `十年规划` keep their numbers: only a mark or a dotted number tells a number apart.
    if marked.len() < rest.len() && (counted.is_some() || !rest.starts_with(['章', '节', '部', '分'])) {
        marked
    } else if dotted && ascii || bracket {
        rest
    } else {
        heading
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_is_left_out() {
        for heading in [
            "# Key choices",
            "###### key Choices ##",
            "## 2. Key choices:",
            "## **2.1 Key choices**",
            "**Key choices**",
            "**Key choices:**",
            "**Key choices**：",
            "## (3) Key   choices",
            "## IV. Key choices",
            "## `Key choices`",
            "## 2) Key choices.",
        ] {
            assert_eq!(headings(heading).collect::<Vec<_>>(), ["key choices"], "{heading}");
        }
        for heading in [
            "## 目标",
            "## 一、目标",
            "### （二）目标：",
            "## 第三章 目标",
            "## 1．目标",
            "## 2.3 目标",
            "## **十一、目标**",
        ] {
            assert_eq!(headings(heading).collect::<Vec<_>>(), ["目标"], "{heading}");
        }
        for (heading, expected) in [
            ("## 3 goals", "3 goals"),
            ("## 十年规划", "十年规划"),
            ("## 2026", "2026"),
            ("## Vision", "vision"),
            ("## 分工", "分工"),
        ] {
            assert_eq!(headings(heading).collect::<Vec<_>>(), [expected], "{heading}");
        }
    }

    #[test]
    fn what_is_no_heading() {
        for text in ["Key choices", "#tag", "**a** and **b**", "```\n## in code\n```", "- **item**"] {
            assert_eq!(headings(text).count(), 0, "{text}");
        }
    }
}
