//! The body of a failed request.

use thermidor_model_runtime::dialect::read_fault;

/// The longest message that is kept, in characters, the sign of omission among them.
const LONGEST_MESSAGE: usize = 601;
/// The longest code that is kept, in characters.
const LONGEST_CODE: usize = 100;

/// The first two bytes are the status, 0 none.
pub(super) fn check(input: &[u8]) {
    let (status, body) = match input {
        [high, low, body @ ..] => (u16::from_be_bytes([*high, *low]), body),
        _ => (0, input),
    };
    let status = (status != 0).then_some(status);
    let fault = read_fault(status, body);
    assert_eq!(fault, read_fault(status, body), "one body, two readings");
    let length = fault.message.chars().count();
    assert!(length <= LONGEST_MESSAGE, "a message of {length} characters");
    let length = fault.code.map_or(0, |code| code.chars().count());
    assert!(length <= LONGEST_CODE, "a code of {length} characters");
}
