//! A file, and enough of Rust's syntax to tell code from words and the product from its tests.

use std::path::Path;

/// A text file of the repository.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the root, with forward slashes.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
}

impl Source {
    /// A file and its text.
    pub(crate) fn new(path: &str, text: impl Into<String>) -> Self {
        Self { path: path.to_owned(), text: text.into() }
    }

    /// The last part of the path.
    pub(crate) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Whether this is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        Path::new(&self.path).extension().is_some_and(|extension| extension == "rs")
    }

    /// Whether this is Rust that is part of a crate itself: not its tests, benches or examples.
    pub(crate) fn is_product_code(&self) -> bool {
        let in_tests = self.path.contains("/tests/") || self.file_name() == "tests.rs";
        self.is_rust() && self.path.contains("/src/") && !in_tests
    }

    /// The lines of the file with their numbers.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }

    /// The code alone, line by line: comments and literals are blanked, lines under `#[cfg(test)]` left out.
    pub(crate) fn code(&self) -> Vec<(usize, String)> {
        let code = blank_words(&self.text);
        let lines: Vec<&str> = code.lines().collect();
        let mut kept = Vec::new();
        let mut index = 0;
        while let Some(line) = lines.get(index) {
            if line.trim() == "#[cfg(test)]" {
                index = end_of_item(&lines, index + 1);
            } else {
                kept.push((index + 1, (*line).to_owned()));
                index += 1;
            }
        }
        kept
    }
}

/// The index after the item that starts at `start`: it ends with its closing brace or with a semicolon.
fn end_of_item(lines: &[&str], start: usize) -> usize {
    let mut depth = 0_usize;
    for (index, line) in lines.iter().enumerate().skip(start) {
        for letter in line.chars() {
            match letter {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(letter, '}' | ';') {
                return index + 1;
            }
        }
    }
    lines.len()
}

/// Replaces the inside of comments, strings and characters by spaces; line breaks stay.
fn blank_words(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        let end = end_of_words(&letters, at);
        if end > at {
            code.extend(letters[at..end].iter().map(|&letter| if letter == '\n' { '\n' } else { ' ' }));
            at = end;
        } else {
            code.push(letters[at]);
            at += 1;
        }
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at` itself when none starts there.
fn end_of_words(letters: &[char], at: usize) -> usize {
    let next = |offset: usize| letters.get(at + offset).copied();
    match letters[at] {
        '/' if next(1) == Some('/') => find(letters, at, |rest| rest[0] == '\n').unwrap_or(letters.len()),
        '/' if next(1) == Some('*') => end_of_block_comment(letters, at),
        '"' => end_of_string(letters, at),
        '\'' if next(1) == Some('\\') => end_of_escaped_char(letters, at),
        '\'' if next(2) == Some('\'') => at + 3,
        'r' if at == 0 || !is_word(letters[at - 1]) || letters[at - 1] == 'b' => {
            end_of_raw_string(letters, at)
        }
        _ => at,
    }
}

fn end_of_escaped_char(letters: &[char], at: usize) -> usize {
    find(letters, at + 3, |rest| rest[0] == '\'').map_or(letters.len(), |quote| quote + 1)
}

fn end_of_block_comment(letters: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < letters.len() {
        match letters[at..] {
            ['/', '*', ..] => (depth, at) = (depth + 1, at + 2),
            ['*', '/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    letters.len()
}

fn end_of_string(letters: &[char], start: usize) -> usize {
    let mut at = start + 1;
    while at < letters.len() {
        match letters[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    letters.len()
}

fn end_of_raw_string(letters: &[char], start: usize) -> usize {
    let hashes = letters[start + 1..].iter().take_while(|&&letter| letter == '#').count();
    let quote = start + 1 + hashes;
    if letters.get(quote) != Some(&'"') {
        return start;
    }
    let closes = |rest: &[char]| {
        rest[0] == '"' && rest[1..].iter().take_while(|&&letter| letter == '#').count() >= hashes
    };
    find(letters, quote + 1, closes).map_or(letters.len(), |end| end + 1 + hashes)
}

fn find(letters: &[char], from: usize, wanted: impl Fn(&[char]) -> bool) -> Option<usize> {
    (from..letters.len()).find(|&at| wanted(&letters[at..]))
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let code = Source::new("crates/x/src/a.rs", text).code();
        let lines = code.iter().map(|(line, code)| format!("{line}|{}\n", code.trim_end()));
        expected.assert_eq(&lines.collect::<String>());
    }

    /// Would fail if a brace or a keyword inside words counted as code.
    #[test]
    fn words_are_not_code() {
        check(
            "let a = \"fn {\"; // }\nlet b = r#\"\n\"}\" \"#;\nlet c = ('{', '\\'', b'}', \"\\\"{\");\n/* { /* } */ */ fn f<'a>() {}\n",
            expect![[r"
                1|let a =       ;
                2|let b =
                3|      ;
                4|let c = (   ,     , b   ,      );
                5|                fn f<'a>() {}
            "]],
        );
    }

    /// Would fail if tests counted as product, or if what follows them were lost.
    #[test]
    fn tests_are_left_out() {
        check(
            "fn a() {}\n#[cfg(test)]\nmod tests;\nfn b() {}\n#[cfg(test)]\n#[allow(x)]\nmod more {\n    const S: &str = \"\n}\n\";\n}\nfn c() {}\n",
            expect![[r"
                1|fn a() {}
                4|fn b() {}
                12|fn c() {}
            "]],
        );
    }

    /// Would fail if an unfinished literal made the reader run past the end.
    #[test]
    fn unfinished_input_ends() {
        for text in ["\"", "'\\", "r#\"", "/*", "r", "#[cfg(test)]", "'", "r##"] {
            Source::new("a.rs", text).code();
        }
    }
}
