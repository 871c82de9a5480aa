//! The request: words from the command line, files, and what is piped in.

use std::{
    fs,
    io::{self, IsTerminal as _, Read},
    path::{Path, PathBuf},
};

use crate::exit::Trouble;

/// The largest file or input that becomes part of a request, in bytes.
const LARGEST: u64 = 4 << 20;

/// Puts the request together. Reads files and, unless it is a terminal, standard input to its end.
///
/// # Errors
/// `Usage` when there is nothing to do, or a file cannot be part of a request.
pub(crate) fn assemble(prompt: &[String], files: &[PathBuf]) -> Result<String, Trouble> {
    let stdin = io::stdin();
    let alone = prompt == ["-"];
    if !alone && prompt.iter().any(|word| word == "-") {
        return Err(Trouble::usage(
            "`-` takes the request from standard input alone; leave out the other words",
        ));
    }
    let piped = if stdin.is_terminal() && !alone {
        None
    } else {
        Some(text_of("standard input", &mut stdin.lock())?).filter(|text| !text.trim().is_empty())
    };
    let words = if alone { String::new() } else { prompt.join(" ") };
    let files = files.iter().map(|file| Ok((file.display().to_string(), file_text(file)?)));
    let files: Vec<(String, String)> = files.collect::<Result<_, Trouble>>()?;
    let request = compose(words.trim(), piped.as_deref(), &files);
    if request.is_empty() {
        let how = "say what is to be done: thermidor run \"an AI trainer for job interviews\"";
        return Err(Trouble::usage(format!("the request is empty; {how}")));
    }
    Ok(request)
}

/// Words first. What comes from elsewhere is marked as such, unless it is all there is.
fn compose(words: &str, piped: Option<&str>, files: &[(String, String)]) -> String {
    let alone = words.is_empty() && files.is_empty();
    let mut parts: Vec<String> = Vec::new();
    if !words.is_empty() {
        parts.push(words.to_owned());
    }
    match piped {
        Some(text) if alone => parts.push(text.trim().to_owned()),
        Some(text) => parts.push(marked("standard input", text)),
        None => {}
    }
    parts.extend(files.iter().map(|(name, text)| marked(&format!("file {name}"), text)));
    parts.join("\n\n")
}

fn marked(what: &str, text: &str) -> String {
    format!("--- {what} ---\n{}\n--- end of {what} ---", text.trim_end())
}

fn file_text(path: &Path) -> Result<String, Trouble> {
    let name = path.display().to_string();
    let opened = fs::File::open(path);
    let mut file = opened.map_err(|error| Trouble::usage(format!("{name}: cannot be read: {error}")))?;
    text_of(&name, &mut file)
}

fn text_of(name: &str, source: &mut dyn Read) -> Result<String, Trouble> {
    let mut bytes = Vec::new();
    let read = source.take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Trouble::usage(format!("{name}: cannot be read: {error}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Trouble::usage(format!("{name}: is larger than 4 MiB; give an excerpt")));
    }
    String::from_utf8(bytes).map_err(|_| Trouble::usage(format!("{name}: is no UTF-8 text")))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn every_part_says_where_it_comes_from() {
        assert_eq!(compose("", Some(" all there is \n"), &[]), "all there is");
        assert_eq!(compose("words", None, &[]), "words");
        let files = [("notes.md".to_owned(), "# Notes\n".to_owned())];
        expect![[r"
            Sum up

            --- standard input ---
            piped
            --- end of standard input ---

            --- file notes.md ---
            # Notes
            --- end of file notes.md ---"]]
        .assert_eq(&compose("Sum up", Some("piped\n"), &files));
    }
}
