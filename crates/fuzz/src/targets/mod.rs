mod decode;
mod encode;
mod fault;
mod list;
mod repair;
mod schema;

pub use list::{Target, targets};
