//! Writing a JSON Schema in the dialect a provider takes.

use thermidor_model_runtime::schema::{SchemaDialect, narrow};
use thermidor_types::Json;

const DIALECTS: [SchemaDialect; 5] = [
    SchemaDialect::Full,
    SchemaDialect::OpenaiStrict,
    SchemaDialect::Gemini,
    SchemaDialect::Groq,
    SchemaDialect::Anthropic,
];

pub(super) fn check(input: &[u8]) {
    let Ok(schema) = Json::parse(String::from_utf8_lossy(input)) else { return };
    for dialect in DIALECTS {
        let outcome = narrow(&schema, dialect);
        assert_eq!(outcome, narrow(&schema, dialect), "one schema, two forms for {dialect:?}");
        let Ok(narrowed) = outcome else { continue };
        if dialect == SchemaDialect::Full {
            assert!(narrowed.dropped.is_empty(), "something was dropped without a need");
        }
        // What a dialect takes, it takes as it is.
        match narrow(&narrowed.schema, dialect) {
            Ok(again) => assert_eq!(again.schema, narrowed.schema, "{dialect:?} changes its own form"),
            Err(error) => panic!("{dialect:?} refuses its own form: {error}"),
        }
    }
}
