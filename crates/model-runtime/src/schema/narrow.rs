use std::fmt::Write as _;

use smol_str::SmolStr;
use thermidor_types::Json;

use super::{
    SchemaDialect,
    node::{Members, Node, is_object, types},
    references::{References, find},
    rules::Rules,
    strict,
};

/// A schema in a provider's dialect, and what it had to lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrowed {
    /// The schema. Keys are in the order of the original.
    pub schema: Json,
    /// What the dialect has no word for, in order.
    pub dropped: Vec<Dropped>,
}

/// A keyword that a dialect does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The schema it stood in, as a JSON pointer; empty for the root.
    pub pointer: String,
    /// The keyword.
    pub keyword: SmolStr,
    /// Its value.
    pub value: Json,
}

impl Narrowed {
    /// What was dropped in words, for the description the model reads; `None` when nothing was.
    pub fn words(&self) -> Option<String> {
        let mut text = String::new();
        for Dropped { pointer, keyword, value } in &self.dropped {
            let place = if pointer.is_empty() { "the whole" } else { pointer };
            let lead = if text.is_empty() { "Also required: " } else { "; " };
            let _ = write!(text, "{lead}{keyword} {value} for {place}");
        }
        (!text.is_empty()).then(|| text + ".")
    }
}

/// A schema that a dialect has no form for.
///
/// It concerns one tool, not the request: the encoder leaves that tool out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It is no JSON object.
    #[error("the schema cannot be read: {0}")]
    NoSchema(String),
    /// The root must be an object with properties, and is something else.
    #[error("the root of the schema must be of type object: put it into a property")]
    Root,
    /// The dialect has no references, and this one leads to itself.
    #[error(
        "the schema refers to itself by {0:?}, which the provider does not take: unfold it to the depth needed"
    )]
    Recursive(String),
    /// A reference leads nowhere.
    #[error("the schema refers to {0:?}, which it does not hold")]
    UnknownReference(String),
    /// It is nested too deeply.
    #[error("the schema is nested deeper than 64 levels")]
    TooDeep,
    /// Without references it would be too large.
    #[error("the schema follows more than 2000 references")]
    TooLarge,
}

/// Writes `schema` in `dialect`.
///
/// Keywords that the dialect does not know are left out and named. What has another form there gets it:
/// optional properties become nullable where all must be required, references are replaced by what they
/// name, constants become enumerations. Narrowing twice is narrowing once. [`SchemaDialect::Full`] hands the
/// schema back byte for byte.
///
/// Cost: linear in the schema and its depth; with references replaced, in what that makes of it.
///
/// ```
/// use thermidor_model_runtime::schema::{SchemaDialect, narrow};
/// use thermidor_types::Json;
///
/// let schema = Json::parse(
///     r#"{"type":"object","properties":{"city":{"type":"string","minLength":2},"days":{"type":"integer"}},"required":["city"]}"#,
/// )?;
/// let narrowed = narrow(&schema, SchemaDialect::OpenaiStrict)?;
/// assert_eq!(
///     narrowed.schema.as_str(),
///     r#"{"type":"object","properties":{"city":{"type":"string"},"days":{"type":["integer","null"]}},"required":["city","days"],"additionalProperties":false}"#
/// );
/// assert_eq!(narrowed.words().as_deref(), Some("Also required: minLength 2 for /properties/city."));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`Unfit`].
pub fn narrow(schema: &Json, dialect: SchemaDialect) -> Result<Narrowed, Unfit> {
    if dialect == SchemaDialect::Full {
        return Ok(Narrowed { schema: schema.clone(), dropped: Vec::new() });
    }
    let rules = dialect.rules();
    let mut root = Node::parse(schema)?;
    if root.as_object().is_none() {
        return Err(Unfit::NoSchema("it is no JSON object".to_owned()));
    }
    if rules.inline {
        root = References::new(&root).inlined(&root)?;
    } else if rules.object_root {
        root = with_root_unfolded(root)?;
    }
    let Node::Object(mut members) = root else { return Err(Unfit::Root) };
    if rules.object_root {
        object_root(&mut members)?;
    }
    let mut narrowing = Narrowing { rules, dropped: Vec::new() };
    let schema = narrowing.schema(members, "");
    Ok(Narrowed { schema: Node::Object(schema).json(), dropped: narrowing.dropped })
}

/// The schema in a form that can stand inside another one: without references.
///
/// # Errors
/// See [`Unfit`].
pub(crate) fn embeddable(schema: &Json) -> Result<Json, Unfit> {
    if !schema.as_str().contains("$ref") {
        return Ok(schema.clone());
    }
    let root = Node::parse(schema)?;
    References::new(&root).inlined(&root).map(|node| node.json())
}

/// A root that is a reference, as what it names.
fn with_root_unfolded(root: Node) -> Result<Node, Unfit> {
    let Some(name) = root.as_object().and_then(|members| members.get("$ref")).and_then(Node::as_string)
    else {
        return Ok(root);
    };
    let target = find(&root, &name).and_then(Node::as_object).filter(|target| !target.contains_key("$ref"));
    let mut members = target.ok_or(Unfit::UnknownReference(name))?.clone();
    let Node::Object(beside) = root else { return Err(Unfit::Root) };
    members.extend(beside.into_iter().filter(|(key, _)| key != "$ref"));
    Ok(Node::Object(members))
}

fn object_root(root: &mut Members) -> Result<(), Unfit> {
    if ["anyOf", "oneOf", "allOf", "enum", "not"].iter().any(|union| root.contains_key(*union)) {
        return Err(Unfit::Root);
    }
    match types(root).as_slice() {
        [] if !root.contains_key("type") => {
            root.shift_insert(0, "type".to_owned(), Node::string("object"));
            Ok(())
        }
        [one] if one == "object" => {
            root.insert("type".to_owned(), Node::string("object"));
            Ok(())
        }
        _ => Err(Unfit::Root),
    }
}

pub(super) struct Narrowing {
    rules: Rules,
    dropped: Vec<Dropped>,
}

impl Narrowing {
    fn schema(&mut self, mut schema: Members, pointer: &str) -> Members {
        if self.rules.any_of_only {
            unions_as_any_of(&mut schema);
        }
        if self.rules.one_type {
            self.one_type(&mut schema, pointer);
        }
        let mut narrowed = Members::new();
        for (keyword, value) in schema {
            if !self.takes(&keyword, &value) {
                self.drop(pointer, &keyword, &value);
                continue;
            }
            let place = format!("{pointer}/{}", keyword.replace('~', "~0").replace('/', "~1"));
            let value = match keyword.as_str() {
                "properties" | "$defs" | "definitions" | "patternProperties" | "dependentSchemas" => {
                    self.schemas_by_name(value, &place)
                }
                "items"
                | "prefixItems"
                | "anyOf"
                | "oneOf"
                | "allOf"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems" => self.inner(value, &place),
                _ => value,
            };
            narrowed.insert(keyword, value);
        }
        if self.rules.closed
            && is_object(&narrowed)
            && let Some(open) = strict::close(&mut narrowed)
        {
            self.drop(pointer, "additionalProperties", &open);
        }
        if self.rules.one_type && is_object(&narrowed) {
            fill_object(&mut narrowed);
        }
        narrowed
    }

    fn takes(&self, keyword: &str, value: &Node) -> bool {
        let format = keyword == "format";
        let known = |formats: &[&str]| value.as_string().is_some_and(|name| formats.contains(&name.as_str()));
        self.rules.keywords.has(keyword)
            && !(format && self.rules.formats.is_some_and(|formats| !known(formats)))
    }

    fn drop(&mut self, pointer: &str, keyword: &str, value: &Node) {
        self.dropped.push(Dropped {
            pointer: pointer.to_owned(),
            keyword: keyword.into(),
            value: value.json(),
        });
    }

    fn inner(&mut self, value: Node, place: &str) -> Node {
        match value {
            Node::Object(schema) => Node::Object(self.schema(schema, place)),
            Node::Array(schemas) => {
                let schemas = schemas.into_iter().enumerate();
                Node::Array(schemas.map(|(n, schema)| self.inner(schema, &format!("{place}/{n}"))).collect())
            }
            Node::Leaf(_) => value,
        }
    }

    fn schemas_by_name(&mut self, value: Node, place: &str) -> Node {
        let Node::Object(schemas) = value else { return value };
        let schemas = schemas.into_iter().map(|(name, schema)| {
            let step = name.replace('~', "~0").replace('/', "~1");
            let schema = self.inner(schema, &format!("{place}/{step}"));
            (name, schema)
        });
        Node::Object(schemas.collect())
    }

    /// One type and `nullable` beside it, enumerations of texts, no constants.
    fn one_type(&mut self, schema: &mut Members, pointer: &str) {
        if let Some(constant) = schema.get("const").cloned() {
            let place = schema.get_index_of("const").unwrap_or_default();
            if constant.as_string().is_some() && !schema.contains_key("enum") {
                schema.shift_remove("const");
                schema.shift_insert(place, "enum".to_owned(), Node::Array(vec![constant]));
            }
        }
        null_branch_as_nullable(schema);
        let named = types(schema);
        if matches!(schema.get("type"), Some(Node::Array(_))) {
            let kinds: Vec<&String> = named.iter().filter(|name| *name != "null").collect();
            let is_nullable = kinds.len() < named.len();
            match kinds.as_slice() {
                [one] => {
                    schema.insert("type".to_owned(), Node::string(one));
                }
                kinds => {
                    schema.shift_remove("type");
                    let each = |kind: &&String| {
                        Node::Object([("type".to_owned(), Node::string(kind))].into_iter().collect())
                    };
                    if !schema.contains_key("anyOf") && !kinds.is_empty() {
                        let union = Node::Array(kinds.iter().map(each).collect());
                        schema.insert("anyOf".to_owned(), union);
                    }
                }
            }
            if is_nullable {
                schema.insert("nullable".to_owned(), Node::flag(true));
            }
        }
        if let Some(Node::Array(values)) = schema.get_mut("enum") {
            let had_null = values.iter().any(|value| value.is("null"));
            if had_null {
                values.retain(|value| !value.is("null"));
            }
            let all_texts = values.iter().all(|value| value.as_string().is_some());
            if all_texts && !values.is_empty() {
                if !schema.contains_key("type") {
                    schema.shift_insert(0, "type".to_owned(), Node::string("string"));
                }
            } else if let Some(values) = schema.shift_remove("enum") {
                self.drop(pointer, "enum", &values);
            }
            if had_null {
                schema.insert("nullable".to_owned(), Node::flag(true));
            }
        }
    }
}

/// A union with null, as what is left of it and `nullable`.
fn null_branch_as_nullable(schema: &mut Members) {
    let Some(Node::Array(branches)) = schema.get_mut("anyOf") else { return };
    let before = branches.len();
    branches.retain(|branch| branch.as_object().is_none_or(|branch| types(branch) != ["null"]));
    if branches.len() == before {
        return;
    }
    let only = match branches.as_slice() {
        [Node::Object(only)] => Some(only.clone()),
        _ => None,
    };
    if let Some(only) = only {
        schema.shift_remove("anyOf");
        for (keyword, value) in only {
            schema.entry(keyword).or_insert(value);
        }
    }
    schema.insert("nullable".to_owned(), Node::flag(true));
}

fn unions_as_any_of(schema: &mut Members) {
    if !schema.contains_key("anyOf")
        && let Some(place) = schema.get_index_of("oneOf")
        && let Some(union) = schema.shift_remove("oneOf")
    {
        schema.shift_insert(place, "anyOf".to_owned(), union);
    }
    let only = match schema.get("allOf").and_then(Node::as_array) {
        Some([Node::Object(only)]) => only.clone(),
        _ => return,
    };
    schema.shift_remove("allOf");
    for (keyword, value) in only {
        schema.entry(keyword).or_insert(value);
    }
}

/// Objects have properties, and require none that is not listed.
fn fill_object(schema: &mut Members) {
    let is_empty = schema.get("properties").and_then(Node::as_object).is_none_or(Members::is_empty);
    if is_empty {
        let unused = [("type", "string"), ("description", "Not used.")];
        let unused = unused.into_iter().map(|(key, text)| (key.to_owned(), Node::string(text))).collect();
        let properties = [("unused".to_owned(), Node::Object(unused))].into_iter().collect();
        schema.insert("properties".to_owned(), Node::Object(properties));
    }
    let names: Vec<String> = schema
        .get("properties")
        .and_then(Node::as_object)
        .into_iter()
        .flat_map(Members::keys)
        .cloned()
        .collect();
    if let Some(Node::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_string().is_some_and(|name| names.contains(&name)));
        if required.is_empty() {
            schema.shift_remove("required");
        }
    }
}
