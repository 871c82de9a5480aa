use std::sync::LazyLock;

use serde::Deserialize;

use super::Provider;

static TABLE: LazyLock<Vec<Provider>> = LazyLock::new(|| {
    let table: Table =
        toml::from_str(include_str!("providers.toml")).expect("a test reads the bundled table");
    table.provider
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    provider: Vec<Provider>,
}

/// The providers that ship, in order of preference. Parsed once, on first use.
pub fn bundled_providers() -> &'static [Provider] {
    &TABLE
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn rows_are_complete_and_names_unique() {
        let mut names = HashSet::new();
        assert!(bundled_providers().len() >= 60);
        for provider in bundled_providers() {
            for name in std::iter::once(&provider.name).chain(&provider.aliases) {
                assert!(names.insert(name.clone()), "{name} is there twice");
            }
            let url = reqwest::Url::parse(&provider.base_url).expect("a valid address");
            assert!(!provider.base_url.ends_with('/'), "{}", provider.name);
            assert_eq!(url.scheme() == "http", provider.local, "keys travel encrypted: {}", provider.name);
            assert_eq!(provider.key_variables.is_empty(), provider.local, "{}", provider.name);
        }
    }
}
