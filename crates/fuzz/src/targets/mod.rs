mod decode;
mod encode;
mod fault;
mod list;

pub use list::{Target, targets};
