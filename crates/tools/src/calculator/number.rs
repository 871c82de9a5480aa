use std::fmt;

/// How many decimals a number that does not end is shown with.
const DECIMALS: usize = 12;

/// An exact fraction of two 127-bit integers, always in lowest terms.
///
/// Shown as a decimal when it has an exact one, otherwise as a fraction with the first digits.
///
/// ```
/// use thermidor_tools::calculate;
/// # fn main() -> Result<(), thermidor_tools::Error> {
/// assert_eq!(calculate("3 / 8")?.to_string(), "0.375");
/// assert_eq!(calculate("-7 / 3")?.to_string(), "-7/3 (-2.333333333333…)");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: i128,
    denominator: i128, // > 0
}

impl Rational {
    /// The fraction in lowest terms, or `None` when the denominator is zero or the result does not fit.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 {
            return None;
        }
        let common = i128::try_from(gcd(numerator.unsigned_abs(), denominator.unsigned_abs())).ok()?;
        let (numerator, denominator) = (numerator.checked_div(common)?, denominator.checked_div(common)?);
        let sign = denominator.signum();
        Some(Self { numerator: numerator.checked_mul(sign)?, denominator: denominator.checked_mul(sign)? })
    }

    /// The part above the line.
    pub const fn numerator(self) -> i128 {
        self.numerator
    }

    /// The part below the line, at least 1.
    pub const fn denominator(self) -> i128 {
        self.denominator
    }

    pub(super) fn add(self, other: Self) -> Option<Self> {
        let common =
            i128::try_from(gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs())).ok()?;
        let left = self.numerator.checked_mul(other.denominator / common)?;
        let right = other.numerator.checked_mul(self.denominator / common)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator / common)?)
    }

    pub(super) fn negate(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, ..self })
    }

    pub(super) fn multiply(self, other: Self) -> Option<Self> {
        let left = Self::new(self.numerator, other.denominator)?;
        let right = Self::new(other.numerator, self.denominator)?;
        Self::new(
            left.numerator.checked_mul(right.numerator)?,
            left.denominator.checked_mul(right.denominator)?,
        )
    }

    /// The reciprocal; `None` of zero.
    pub(super) fn invert(self) -> Option<Self> {
        Self::new(self.denominator, self.numerator)
    }

    /// By repeated squaring: at most 64 multiplications, whatever the exponent.
    pub(super) fn power(self, exponent: i64) -> Option<Self> {
        let mut base = if exponent < 0 { self.invert()? } else { self };
        let mut left = exponent.unsigned_abs();
        let mut result = Self { numerator: 1, denominator: 1 };
        while left > 0 {
            if left & 1 == 1 {
                result = result.multiply(base)?;
            }
            left >>= 1;
            if left > 0 {
                base = base.multiply(base)?;
            }
        }
        Some(result)
    }

    /// The digits after the point: all of them, or the first twelve if they never end. `None` when the
    /// denominator is too large to divide by hand.
    fn decimals(self) -> Option<(String, Ends)> {
        let below = self.denominator.unsigned_abs();
        let mut rest = self.numerator.unsigned_abs() % below;
        let exact = only_twos_and_fives(below);
        let mut digits = String::new();
        while rest != 0 && (exact || digits.len() < DECIMALS) {
            rest = rest.checked_mul(10)?;
            digits.push(char::from(b'0' + u8::try_from(rest / below).ok()?));
            rest %= below;
        }
        Some((digits, if exact { Ends::Yes } else { Ends::No }))
    }
}

enum Ends {
    Yes,
    No,
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn only_twos_and_fives(mut number: u128) -> bool {
    for factor in [2, 5] {
        while number.is_multiple_of(factor) {
            number /= factor;
        }
    }
    number == 1
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (above, below) = (self.numerator, self.denominator);
        if below == 1 {
            return write!(f, "{above}");
        }
        let sign = if above < 0 { "-" } else { "" };
        let whole = above.unsigned_abs() / below.unsigned_abs();
        match self.decimals() {
            Some((digits, Ends::Yes)) => write!(f, "{sign}{whole}.{digits}"),
            Some((digits, Ends::No)) => write!(f, "{above}/{below} ({sign}{whole}.{digits}…)"),
            None => write!(f, "{above}/{below}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Would fail if an operation lost exactness, left lowest terms, or overflowed instead of saying so.
        #[test]
        fn arithmetic_is_exact(a in any::<i32>(), b in 1i32.., c in any::<i32>(), d in 1i32..) {
            let (x, y) = (Rational::new(a.into(), b.into()).expect("fits"), Rational::new(c.into(), d.into()).expect("fits"));
            let (a, b, c, d) = (i128::from(a), i128::from(b), i128::from(c), i128::from(d));
            prop_assert_eq!(x.add(y), Rational::new(a * d + c * b, b * d));
            prop_assert_eq!(x.multiply(y), Rational::new(a * c, b * d));
            prop_assert_eq!(x.power(2), x.multiply(x));
            prop_assert_eq!(gcd(x.numerator.unsigned_abs(), x.denominator.unsigned_abs()), 1);
        }

        /// Would fail if some extreme value panicked.
        #[test]
        fn extremes_do_not_panic(a in any::<i128>(), b in any::<i128>(), exponent in any::<i64>()) {
            for (a, b) in [(a, b), (i128::MIN, b), (a, i128::MIN), (i128::MIN, i128::MIN), (a, i128::MAX)] {
                let Some(number) = Rational::new(a, b) else { continue };
                let _all = (number.add(number), number.multiply(number), number.power(exponent), number.negate());
                prop_assert!(!number.to_string().is_empty());
            }
        }
    }
}
