use super::node::{Members, Node, types};

/// Closes an object and requires each of its properties; what was optional may be null instead.
///
/// Gives back what `additionalProperties` was, when it allowed something.
pub(super) fn close(schema: &mut Members) -> Option<Node> {
    let required: Vec<String> = schema
        .get("required")
        .and_then(Node::as_array)
        .unwrap_or_default()
        .iter()
        .filter_map(Node::as_string)
        .collect();
    let mut names = Vec::new();
    if !schema.contains_key("properties") {
        schema.insert("properties".to_owned(), Node::Object(Members::new()));
    }
    if let Some(Node::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            names.push(Node::string(name));
            if !required.contains(name) {
                let whole = std::mem::replace(property, Node::null());
                *property = nullable(whole);
            }
        }
    }
    schema.insert("required".to_owned(), Node::Array(names));
    let open = schema.insert("additionalProperties".to_owned(), Node::flag(false));
    open.filter(|open| !open.is("false"))
}

fn nullable(schema: Node) -> Node {
    let Node::Object(mut members) = schema else { return schema };
    let null = || Node::Object([("type".to_owned(), Node::string("null"))].into_iter().collect());
    let mut named = types(&members);
    if let Some(Node::Array(branches)) = members.get_mut("anyOf") {
        let is_null = |branch: &Node| branch.as_object().is_some_and(|branch| types(branch) == ["null"]);
        if !branches.iter().any(is_null) {
            branches.push(null());
        }
    } else if !named.is_empty() && !members.contains_key("const") {
        if !named.iter().any(|name| name == "null") {
            named.push("null".to_owned());
        }
        let named = named.iter().map(|name| Node::string(name)).collect();
        members.insert("type".to_owned(), Node::Array(named));
        if let Some(Node::Array(values)) = members.get_mut("enum")
            && !values.iter().any(|value| value.is("null"))
        {
            values.push(Node::null());
        }
    } else {
        let union = Node::Array(vec![Node::Object(members), null()]);
        return Node::Object([("anyOf".to_owned(), union)].into_iter().collect());
    }
    Node::Object(members)
}
