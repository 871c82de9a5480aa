mod expression;
mod number;
mod tool;

pub use expression::calculate;
pub use number::Rational;
pub use tool::Calculator;
