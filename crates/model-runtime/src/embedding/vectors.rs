use serde_json::value::RawValue;

use crate::{base64, whole::Unreadable};

/// A vector as numbers, as base64 of 32-bit floats (little endian), or as a list of one vector.
pub(super) fn vector(raw: &RawValue) -> Result<Vec<f32>, Unreadable> {
    let text = raw.get();
    if text.starts_with('"') {
        let letters: String = serde_json::from_str(text)?;
        let bytes = base64::bytes(&letters).filter(|bytes| bytes.len() % 4 == 0);
        let bytes = bytes.ok_or_else(|| Unreadable::new("a vector is no base64 of 32-bit numbers"))?;
        let numbers = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        return Ok(numbers.collect());
    }
    if text.get(1..).is_some_and(|inner| inner.trim_start().starts_with('[')) {
        let mut nested: Vec<Vec<f32>> = serde_json::from_str(text)?;
        return match nested.len() {
            1 => Ok(nested.remove(0)),
            several => Err(Unreadable::new(format!(
                "{several} vectors came for one text: the server pools none, start it with a pooling"
            ))),
        };
    }
    Ok(serde_json::from_str(text)?)
}

/// Vectors in the order of their indices; those without any stay as they are.
pub(super) fn ordered(vectors: Vec<(Option<u64>, Vec<f32>)>) -> Result<Vec<Vec<f32>>, Unreadable> {
    if vectors.iter().all(|(index, _)| index.is_none()) {
        return Ok(vectors.into_iter().map(|(_, vector)| vector).collect());
    }
    let mut places: Vec<Option<Vec<f32>>> = vec![None; vectors.len()];
    for (index, vector) in vectors {
        let place = index.and_then(|index| places.get_mut(usize::try_from(index).ok()?));
        match place {
            Some(place @ None) => *place = Some(vector),
            _ => return Err(Unreadable::new("the indices of the vectors do not count from 0 one by one")),
        }
    }
    Ok(places.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<f32>, String> {
        let raw: &RawValue = serde_json::from_str(json).expect("JSON");
        vector(raw).map_err(|error| error.to_string())
    }

    #[test]
    fn vectors_have_three_forms() {
        assert_eq!(read("[0.5, -1]"), Ok(vec![0.5, -1.0]));
        assert_eq!(read(r#""AAAAPwAAgL8=""#), Ok(vec![0.5, -1.0]));
        assert_eq!(read("[ [0.5]]"), Ok(vec![0.5]));
        for odd in [r#""AAAA""#, r#""?""#, "[[1],[2]]", "[[]", "5", r#"["a"]"#, "null"] {
            if let Ok(raw) = serde_json::from_str::<&RawValue>(odd) {
                assert!(vector(raw).is_err(), "{odd}");
            }
        }
    }

    /// Would fail if a vector were given to another text than its own.
    #[test]
    fn indices_say_whose_a_vector_is() {
        let order = |indices: &[Option<u64>]| {
            let vectors = indices.iter().zip(0_u8..).map(|(index, place)| (*index, vec![f32::from(place)]));
            ordered(vectors.collect()).map(|vectors| vectors.concat()).map_err(|error| error.to_string())
        };
        assert_eq!(order(&[Some(2), Some(0), Some(1)]), Ok(vec![1.0, 2.0, 0.0]));
        assert_eq!(order(&[None, None]), Ok(vec![0.0, 1.0]));
        for odd in [&[Some(0), Some(0)][..], &[Some(1)], &[Some(0), None], &[Some(u64::MAX)]] {
            assert!(order(odd).is_err(), "{odd:?}");
        }
    }
}
