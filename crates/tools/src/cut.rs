use thermidor_types::{Content, Text};
use unicode_segmentation::GraphemeCursor;

/// Holds the text of an answer to `limit` characters in all. What is too long loses its middle, at the
/// border of what a person sees as a character, and says how much went.
pub(crate) fn shorten(content: &mut [Content], limit: usize) {
    let mut left = limit;
    for part in content {
        let Content::Text(text) = part else { continue };
        if text.len() <= left {
            left -= text.chars().count();
            continue;
        }
        let length = text.chars().count();
        if length > left {
            *text = without_middle(text, length, left).into();
        }
        left = left.saturating_sub(length);
    }
}

/// The first three quarters of `room` characters, a note, and the last quarter.
fn without_middle(text: &Text, length: usize, room: usize) -> String {
    let tail = room / 4;
    let head_end = floor(text, byte_of(text, room - tail));
    let tail_start = ceil(text, byte_of(text, length - tail));
    let lost = text[head_end..tail_start].chars().count();
    let (head, tail) = (&text[..head_end], &text[tail_start..]);
    format!("{head}\n[… {lost} of {length} characters left out: ask for less at a time …]\n{tail}")
        .trim()
        .to_owned()
}

fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(byte, _)| byte)
}

fn floor(text: &str, byte: usize) -> usize {
    let mut cursor = GraphemeCursor::new(byte, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        // The whole text is given as one chunk: the cursor never asks for another.
        Ok(true) | Err(_) => byte,
    }
}

fn ceil(text: &str, byte: usize) -> usize {
    let mut cursor = GraphemeCursor::new(byte, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
        Ok(true) | Err(_) => byte,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation as _;

    use super::*;

    fn cut(texts: &[&str], limit: usize) -> Vec<String> {
        let mut content: Vec<Content> = texts.iter().map(|text| Content::text(*text)).collect();
        shorten(&mut content, limit);
        let text = |part: &Content| match part {
            Content::Text(text) => text.to_string(),
            Content::Media(_) => unreachable!("only texts went in"),
        };
        content.iter().map(text).collect()
    }

    fn note(lost: usize, length: usize) -> String {
        format!("[… {lost} of {length} characters left out: ask for less at a time …]")
    }

    #[test]
    fn the_limit_is_for_all_parts_together() {
        assert_eq!(cut(&["天地玄黄"], 4), ["天地玄黄"]);
        assert_eq!(cut(&["0123456789"], 8), [format!("012345\n{}\n89", note(2, 10))]);
        assert_eq!(cut(&["abc", "0123456789"], 7), ["abc".to_owned(), format!("012\n{}\n9", note(6, 10))]);
        assert_eq!(cut(&["abc", "de"], 3), ["abc".to_owned(), note(2, 2)]);
        // A flag is two characters and one grapheme: it goes or stays whole.
        assert_eq!(cut(&["ab🇩🇪🇫🇷cdefghij"], 4), [format!("ab\n{}\nj", note(11, 14))]);
    }

    proptest! {
        /// Would fail if a cut fell inside a grapheme or kept more than the limit.
        #[test]
        fn keeps_whole_graphemes(text in "[a天é🇩🇪👨\u{200d}👩\u{301}\n]{0,60}", limit in 0usize..60) {
            let cut = cut(&[&text], limit).remove(0);
            let Some((head, rest)) = cut.split_once("[… ") else {
                prop_assert_eq!(cut, text);
                return Ok(());
            };
            let tail = rest.split_once("…]").map_or("", |(_, tail)| tail).trim();
            let head = head.trim();
            prop_assert!(head.chars().count() + tail.chars().count() <= limit);
            let graphemes: Vec<&str> = text.trim().graphemes(true).filter(|grapheme| *grapheme != "\n").collect();
            let plain = |part: &str| part.graphemes(true).filter(|grapheme| *grapheme != "\n").map(str::to_owned).collect::<Vec<_>>();
            prop_assert!(graphemes.starts_with(&plain(head).iter().map(String::as_str).collect::<Vec<_>>()));
            prop_assert!(graphemes.ends_with(&plain(tail).iter().map(String::as_str).collect::<Vec<_>>()));
        }
    }
}
