use smol_str::SmolStr;
use thermidor_types::ContentHash;

/// The longest name every provider takes, in characters.
const LONGEST: usize = 64;

/// Whether every provider takes `name` as it is: letters, digits, `_`, `-`; a letter or `_` first; 64 at most.
pub(crate) fn is_valid(name: &str) -> bool {
    let first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    name.len() <= LONGEST && name.bytes().next().is_some_and(first) && name.bytes().all(rest)
}

/// The `attempt`-th candidate for the name of `name` on the wire.
///
/// The first one depends on `name` alone: a valid name stays itself, any other is mapped and gets a short
/// hash. So no tool is renamed because another one came or went, which would break prompt caches and
/// calls in flight. Later candidates are for the rare clash.
pub(crate) fn candidate(name: &str, attempt: u32) -> SmolStr {
    if attempt == 0 && is_valid(name) {
        return name.into();
    }
    let hash = match attempt {
        0 => ContentHash::of(name.as_bytes()),
        _ => ContentHash::of(format!("{attempt}:{name}").as_bytes()),
    };
    let hash = &hash.to_string()[..if attempt == 0 { 6 } else { 8 }];
    let mut mapped = String::with_capacity(LONGEST);
    for c in name.chars() {
        if mapped.len() + 1 + hash.len() == LONGEST {
            break;
        }
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            if mapped.is_empty() && !c.is_ascii_alphabetic() && c != '_' {
                mapped.push('_');
            }
            mapped.push(c);
        } else if !mapped.is_empty() && !mapped.ends_with('_') {
            mapped.push('_');
        }
    }
    let mapped = mapped.trim_end_matches('_');
    let mapped = if mapped.is_empty() { "tool" } else { mapped };
    format!("{mapped}_{hash}").into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mapping() {
        let check = |name: &str, expected: &str| assert_eq!(candidate(name, 0), expected, "{name}");
        check("read_file", "read_file");
        check("read file", "read_file_12b6d0");
        check("天气", "tool_8f7faf");
        check("查天气 weather", "weather_a7a35e");
        check("9lives", "_9lives_a9f488");
        check("", "tool_af1349");
        assert_ne!(candidate("read_file", 1), "read_file");
    }

    proptest! {
        /// Would fail if any script, length or attempt led to a name that a provider refuses.
        #[test]
        fn always_valid(name in "\\PC{0,100}", attempt in 0u32..3) {
            prop_assert!(is_valid(&candidate(&name, attempt)), "{}", candidate(&name, attempt));
        }

        /// Would fail if a long valid name lost its tail without a hash, or a border was off by one.
        #[test]
        fn long_names_stay_apart(head in "[-_a-zA-Z0-9]{55,80}", a in "[a-z]{1,9}", b in "[a-z]{1,9}") {
            prop_assume!(a != b);
            let (a, b) = (candidate(&format!("{head}{a}"), 0), candidate(&format!("{head}{b}"), 0));
            prop_assert!(is_valid(&a) && is_valid(&b));
            prop_assert_ne!(a, b);
        }
    }
}
