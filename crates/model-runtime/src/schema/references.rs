use super::{
    Unfit,
    node::{Members, Node},
};

/// How many references are followed in one schema: what is inlined grows with each.
const MOST_REFERENCES: usize = 2_000;

/// Replaces references by what they name.
pub(super) struct References<'a> {
    root: &'a Node,
    followed: usize,
    open: Vec<String>,
}

impl<'a> References<'a> {
    pub(super) fn new(root: &'a Node) -> Self {
        Self { root, followed: 0, open: Vec::new() }
    }

    /// The node with every reference inside it replaced.
    pub(super) fn inlined(&mut self, node: &Node) -> Result<Node, Unfit> {
        match node {
            Node::Leaf(_) => Ok(node.clone()),
            Node::Array(items) => {
                items.iter().map(|item| self.inlined(item)).collect::<Result<_, _>>().map(Node::Array)
            }
            Node::Object(members) => {
                if let Some(name) = members.get("$ref").and_then(Node::as_string) {
                    self.followed(&name, members)
                } else {
                    let mut inlined = Members::new();
                    for (key, value) in members {
                        if key == "properties" {
                            inlined.insert(key.clone(), self.each(value)?);
                        } else if key != "$defs" && key != "definitions" {
                            inlined.insert(key.clone(), self.inlined(value)?);
                        }
                    }
                    Ok(Node::Object(inlined))
                }
            }
        }
    }

    /// Properties may have any name, those of keywords too.
    fn each(&mut self, properties: &Node) -> Result<Node, Unfit> {
        let Node::Object(members) = properties else { return Ok(properties.clone()) };
        let inlined = members.iter().map(|(name, schema)| Ok((name.clone(), self.inlined(schema)?)));
        inlined.collect::<Result<_, Unfit>>().map(Node::Object)
    }

    fn followed(&mut self, name: &str, beside: &Members) -> Result<Node, Unfit> {
        self.followed += 1;
        if self.open.iter().any(|open| open == name) {
            return Err(Unfit::Recursive(name.to_owned()));
        }
        if self.followed > MOST_REFERENCES {
            return Err(Unfit::TooLarge);
        }
        let target = find(self.root, name).ok_or_else(|| Unfit::UnknownReference(name.to_owned()))?;
        self.open.push(name.to_owned());
        let inlined = self.inlined(target)?;
        self.open.pop();
        let Node::Object(mut members) = inlined else { return Ok(inlined) };
        for (key, value) in beside {
            if key != "$ref" && key != "$defs" && key != "definitions" {
                members.insert(key.clone(), self.inlined(value)?);
            }
        }
        Ok(Node::Object(members))
    }
}

/// What `#/a/b` names.
pub(super) fn find<'a>(root: &'a Node, name: &str) -> Option<&'a Node> {
    let pointer = name.strip_prefix('#')?;
    let mut steps = pointer.split('/');
    if !steps.next()?.is_empty() {
        return None;
    }
    steps.try_fold(root, |node, step| {
        let step = step.replace("~1", "/").replace("~0", "~");
        match node {
            Node::Object(members) => members.get(&step),
            Node::Array(items) => items.get(step.parse::<usize>().ok()?),
            Node::Leaf(_) => None,
        }
    })
}
