use std::{collections::HashMap, fmt, sync::Arc};

use indexmap::IndexMap;
use smol_str::SmolStr;
use thermidor_types::{ToolCall, ToolResult, ToolSchema, near};

use crate::{
    Error, ErrorKind, Tool, ToolContext,
    execute::{failed, run},
    wire_name,
};

/// How many names an unknown tool is answered with, how many of them as suggestions, and how much of the unknown
/// name is quoted.
const LISTED: usize = 10;
const SUGGESTED: usize = 3;
const QUOTED: usize = 64;

/// Tools by name, in the order they were registered. Cheap to clone: tools are shared.
///
/// A tool has one name in any script, and one on the wire that every provider accepts: at most 64 letters,
/// digits, `_` and `-`. A name that fits is used as it is; another is mapped, with a short hash of itself.
///
/// ```
/// use thermidor_tools::{NoArguments, Registry, Tool, tool_fn};
/// # fn main() -> Result<(), thermidor_tools::Error> {
/// let mut tools = Registry::default();
/// tools.register(tool_fn("查天气 weather", "Looks up the weather", async |_: NoArguments| "sunny"))?;
/// let wire = &tools.schemas()[0].name;
/// assert_eq!(wire, "weather_a7a35e");
/// assert_eq!(tools.by_wire_name(wire).map(|tool| tool.spec().name.as_str()), Some("查天气 weather"));
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    tools: IndexMap<SmolStr, Entry>,
    by_wire: HashMap<SmolStr, SmolStr>,
}

#[derive(Clone)]
struct Entry {
    tool: Arc<dyn Tool>,
    wire: SmolStr,
}

impl Registry {
    /// Adds a tool at the end, and gives the registry back for the next one.
    ///
    /// # Errors
    /// [`ErrorKind::Registration`] when the name is empty or taken, or the parameters are not the schema of
    /// an object. The registry is unchanged then.
    pub fn register(&mut self, tool: impl Tool) -> Result<&mut Self, Error> {
        let refuse = |why: String| Err(Error::new(ErrorKind::Registration, why));
        let spec = tool.spec();
        let name = spec.name.clone();
        if name.trim().is_empty() {
            return refuse("a tool needs a name".into());
        }
        if self.tools.contains_key(&name) {
            return refuse(format!("there is already a tool named `{name}`: rename one of them"));
        }
        let schema: serde_json::Value = spec.parameters.read().unwrap_or_default();
        if schema.get("type").and_then(serde_json::Value::as_str) != Some("object") {
            return refuse(format!(
                "the parameters of `{name}` must be a JSON Schema of type object: wrap a single value in a struct"
            ));
        }
        let free = |wire: &SmolStr| !self.by_wire.contains_key(wire);
        let Some(wire) = (0..u32::MAX).map(|attempt| wire_name::candidate(&name, attempt)).find(free) else {
            return refuse(format!("no name is free on the wire for `{name}`"));
        };
        self.insert(name, Entry { tool: Arc::new(tool), wire });
        Ok(self)
    }

    fn insert(&mut self, name: SmolStr, entry: Entry) {
        self.by_wire.insert(entry.wire.clone(), name.clone());
        self.tools.insert(name, entry);
    }

    /// The number of tools.
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The tools in the order they were registered.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values().map(|entry| &entry.tool)
    }

    /// The tools as a model is told of them, under their wire names, in the order they were registered.
    pub fn schemas(&self) -> Vec<ToolSchema> {
        let schema = |entry: &Entry| ToolSchema {
            name: entry.wire.clone(),
            description: entry.tool.spec().description.clone(),
            parameters: entry.tool.spec().parameters.clone(),
        };
        self.tools.values().map(schema).collect()
    }

    /// The tool registered as `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name).map(|entry| &entry.tool)
    }

    /// The name on the wire of the tool registered as `name`.
    pub fn wire_name(&self, name: &str) -> Option<&SmolStr> {
        self.tools.get(name).map(|entry| &entry.wire)
    }

    /// The tool a model meant by `wire`: exactly, or, if just one tool comes into question, whatever its
    /// case and separators (models write `readFile` for `read_file`).
    pub fn by_wire_name(&self, wire: &str) -> Option<&Arc<dyn Tool>> {
        if let Some(name) = self.by_wire.get(wire) {
            return self.get(name);
        }
        let wanted = plain(wire);
        let mut bent = self.tools.values().filter(|entry| !wanted.is_empty() && plain(&entry.wire) == wanted);
        match (bent.next(), bent.next()) {
            (Some(entry), None) => Some(&entry.tool),
            _ => None,
        }
    }

    /// The tools of these names in this order, each under the wire name it has here.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownTool`] for a name that is not registered.
    pub fn subset<N: AsRef<str>>(&self, names: impl IntoIterator<Item = N>) -> Result<Self, Error> {
        let mut chosen = Self::default();
        for name in names {
            let name = name.as_ref();
            let (name, entry) = self.tools.get_key_value(name).ok_or_else(|| self.unknown(name))?;
            chosen.insert(name.clone(), entry.clone());
        }
        Ok(chosen)
    }

    /// Says that there is no such tool, and which ones come near or exist.
    pub fn unknown(&self, name: &str) -> Error {
        let near = near(name, self.tools.keys().map(SmolStr::as_str), SUGGESTED);
        let list =
            |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let advice = if self.is_empty() {
            "there are no tools".to_owned()
        } else if near.is_empty() {
            let names: Vec<&str> = self.tools.keys().map(SmolStr::as_str).take(LISTED).collect();
            let more = if self.len() > LISTED { ", …" } else { "" };
            format!("there are {}{more}", list(&names))
        } else {
            format!("did you mean {}?", list(&near))
        };
        let name: String = name.chars().take(QUOTED).collect();
        Error::new(ErrorKind::UnknownTool, format!("there is no tool `{name}`; {advice}"))
    }

    /// Runs a call: exactly one result on every path. See [`run`] for what the outcome says.
    ///
    /// `call.name` is the registered name. Needs a Tokio runtime with time enabled.
    pub async fn run(&self, call: &ToolCall, context: ToolContext) -> ToolResult {
        match self.get(&call.name) {
            Some(tool) => run(&**tool, call.arguments.clone().into(), context).await,
            None => failed(&self.unknown(&call.name)),
        }
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.tools.iter().map(|(name, entry)| (name, &entry.wire))).finish()
    }
}

/// Lower case, without what separates words.
fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::{
        collections::HashSet,
        future::{Ready, ready},
    };

    use proptest::prelude::*;
    use thermidor_types::{Json, ToolOutcome};

    use super::*;
    use crate::{FunctionTool, NoArguments, ToolSpec, tool_fn};

    fn named(name: &str) -> FunctionTool<NoArguments, fn(NoArguments) -> Ready<&'static str>> {
        tool_fn(name, "", |_| ready("done"))
    }

    fn registry(names: &[&str]) -> Registry {
        let mut tools = Registry::default();
        for name in names {
            tools.register(named(name)).expect("a new name");
        }
        tools
    }

    fn name(tool: Option<&Arc<dyn Tool>>) -> Option<&str> {
        tool.map(|tool| tool.spec().name.as_str())
    }

    #[test]
    fn what_cannot_be_registered_is_refused_and_nothing_changes() {
        let mut tools = registry(&["search"]);
        let mut check = |tool: Box<dyn Fn() -> Arc<dyn Tool>>, expected: &str| {
            assert_eq!(tools.register(tool()).expect_err(expected).to_string(), expected);
            assert_eq!(tools.len(), 1);
        };
        check(
            Box::new(|| Arc::new(named("search"))),
            "there is already a tool named `search`: rename one of them",
        );
        check(Box::new(|| Arc::new(named(" "))), "a tool needs a name");
        for schema in ["null", r#"{"type":"string"}"#] {
            let tool = move || -> Arc<dyn Tool> {
                let parameters = Json::parse(schema).expect("valid");
                Arc::new(named("x").with(|spec| ToolSpec { parameters, ..spec }))
            };
            check(
                Box::new(tool),
                "the parameters of `x` must be a JSON Schema of type object: wrap a single value in a struct",
            );
        }
    }

    /// Would fail if a subset renamed its tools: a model would call names it was never given.
    #[test]
    fn a_subset_keeps_order_and_wire_names() {
        let taken = wire_name::candidate("read file", 0);
        let tools = registry(&["b", &taken, "read file", "a"]);
        let wire = tools.wire_name("read file").expect("registered").clone();
        assert_ne!(wire, taken);
        let few = tools.subset(["read file", "a"]).expect("both exist");
        assert_eq!(
            few.schemas().iter().map(|schema| schema.name.clone()).collect::<Vec<_>>(),
            [wire, "a".into()]
        );
        let error = tools.subset(["A"]).expect_err("no such tool");
        assert_eq!(error.to_string(), "there is no tool `A`; did you mean `a`?");
    }

    #[test]
    fn a_bent_name_is_understood_only_if_it_is_clear() {
        let tools = registry(&["read_file", "get-page", "get_page"]);
        assert_eq!(name(tools.by_wire_name("readFile")), Some("read_file"));
        assert_eq!(name(tools.by_wire_name("getPage")), None);
        assert_eq!(name(tools.by_wire_name("")), None);
    }

    #[tokio::test]
    async fn an_unknown_tool_is_answered_with_near_names() {
        let check = async |names: &[&str], wanted: &str, expected: &str| {
            let call = ToolCall::new("c", wanted, "{}");
            let result = registry(names).run(&call, ToolContext::detached()).await;
            assert_eq!(result, ToolResult::failed(ToolOutcome::Error, expected));
        };
        let next = "Call one of the tools you were given.";
        check(
            &["search"],
            "serach",
            &format!("The tool does not exist: there is no tool `serach`; did you mean `search`? {next}"),
        )
        .await;
        check(
            &["a", "b"],
            "zoom",
            &format!("The tool does not exist: there is no tool `zoom`; there are `a`, `b`. {next}"),
        )
        .await;
        check(
            &[],
            "zoom",
            &format!("The tool does not exist: there is no tool `zoom`; there are no tools. {next}"),
        )
        .await;
    }

    proptest! {
        /// Would fail if two tools shared a wire name, a name was refused by providers, or the way back
        /// led to another tool – also when names are chosen to clash with mapped ones.
        #[test]
        fn wire_names_are_valid_unique_and_map_back(names in prop::collection::hash_set("[a-b天 _.-]{1,4}|\\PC{1,80}", 1..30)) {
            let mut names: Vec<String> = names.into_iter().filter(|name| !name.trim().is_empty()).collect();
            let mut all: HashSet<String> = names.iter().cloned().collect();
            for name in names.clone() {
                for attempt in 0..2 {
                    let clash = wire_name::candidate(&name, attempt).to_string();
                    if all.insert(clash.clone()) { names.insert(0, clash) }
                }
            }
            let tools = registry(&names.iter().map(String::as_str).collect::<Vec<_>>());
            let mut seen = HashSet::new();
            for (schema, expected) in tools.schemas().iter().zip(&names) {
                prop_assert!(wire_name::is_valid(&schema.name));
                prop_assert!(seen.insert(schema.name.clone()));
                prop_assert_eq!(name(tools.by_wire_name(&schema.name)), Some(expected.as_str()));
            }
        }
    }
}
