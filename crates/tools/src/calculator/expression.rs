use super::Rational;
use crate::{Error, ErrorKind};

/// How deep parentheses, signs and powers may nest.
const DEEPEST: usize = 64;
/// The longest expression, in characters.
const LONGEST: usize = 4_000;

/// Calculates an expression of `+ - * / ^`, parentheses, signs and decimal numbers, exactly.
///
/// A power binds tighter than a sign and groups to the right: `-2^2` is -4, `2^3^2` is 512. `×`, `÷`, `−`,
/// `**` and full-width parentheses are understood. Cost: linear in the length.
///
/// # Errors
/// [`ErrorKind::Arguments`] with the place when it is no expression; [`ErrorKind::Failed`] for a division by
/// zero, a broken power, or a number beyond 38 digits.
pub fn calculate(expression: &str) -> Result<Rational, Error> {
    let symbols: Vec<char> = expression.chars().take(LONGEST + 1).collect();
    if symbols.len() > LONGEST {
        return Err(Error::new(
            ErrorKind::Arguments,
            format!("the expression is longer than {LONGEST} characters: calculate it in parts"),
        ));
    }
    let mut reader = Reader { symbols, at: 0, depth: 0 };
    let value = reader.sum()?;
    match reader.peek() {
        None => Ok(value),
        Some(_) => Err(reader.expected("an operator or the end")),
    }
}

/// One method a level of binding, weakest first.
struct Reader {
    symbols: Vec<char>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn sum(&mut self) -> Result<Rational, Error> {
        let mut value = self.product()?;
        loop {
            let operator = self.peek();
            let negative = match operator {
                Some('+') => false,
                Some('-') => true,
                _ => return Ok(value),
            };
            self.at += 1;
            let other = self.product()?;
            let other = if negative { other.negate() } else { Some(other) };
            value = other.and_then(|other| value.add(other)).ok_or_else(too_large)?;
        }
    }

    fn product(&mut self) -> Result<Rational, Error> {
        let mut value = self.signed()?;
        loop {
            let divides = match self.peek() {
                Some('*') => false,
                Some('/') => true,
                _ => return Ok(value),
            };
            self.at += 1;
            let place = self.place();
            let mut other = self.signed()?;
            if divides {
                if other.numerator() == 0 {
                    return Err(Error::new(ErrorKind::Failed, format!("division by zero at {place}")));
                }
                other = other.invert().ok_or_else(too_large)?;
            }
            value = value.multiply(other).ok_or_else(too_large)?;
        }
    }

    fn signed(&mut self) -> Result<Rational, Error> {
        let mut negative = false;
        while let Some(sign @ ('+' | '-')) = self.peek() {
            negative ^= sign == '-';
            self.at += 1;
        }
        let value = self.power()?;
        if negative { value.negate().ok_or_else(too_large) } else { Ok(value) }
    }

    fn power(&mut self) -> Result<Rational, Error> {
        let base = self.atom()?;
        if self.peek() != Some('^') {
            return Ok(base);
        }
        self.at += 1;
        let place = self.place();
        let exponent = self.deeper(Self::signed)?;
        let whole = (exponent.denominator() == 1).then(|| i64::try_from(exponent.numerator()).ok()).flatten();
        let Some(whole) = whole else {
            return Err(Error::new(
                ErrorKind::Failed,
                format!("the exponent at {place} must be a whole number"),
            ));
        };
        if whole < 0 && base.numerator() == 0 {
            return Err(Error::new(ErrorKind::Failed, format!("division by zero at {place}")));
        }
        base.power(whole).ok_or_else(too_large)
    }

    fn atom(&mut self) -> Result<Rational, Error> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let value = self.deeper(Self::sum)?;
                if self.peek() != Some(')') {
                    return Err(self.expected("an operator or `)`"));
                }
                self.at += 1;
                Ok(value)
            }
            Some('0'..='9' | '.') => self.number(),
            _ => Err(self.expected("a number or `(`")),
        }
    }

    fn number(&mut self) -> Result<Rational, Error> {
        let (mut above, mut below) = (0_i128, 1_i128);
        let (mut digits, mut point) = (0, false);
        while let Some(&symbol) = self.symbols.get(self.at) {
            match symbol {
                '0'..='9' => {
                    let digit = i128::from(symbol as u32 - '0' as u32);
                    above = above
                        .checked_mul(10)
                        .and_then(|above| above.checked_add(digit))
                        .ok_or_else(too_large)?;
                    below = if point { below.checked_mul(10).ok_or_else(too_large)? } else { below };
                    digits += 1;
                }
                '.' if !point => point = true,
                _ => break,
            }
            self.at += 1;
        }
        if digits == 0 {
            return Err(self.expected("a digit"));
        }
        Rational::new(above, below).ok_or_else(too_large)
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Result<Rational, Error>) -> Result<Rational, Error> {
        if self.depth == DEEPEST {
            return Err(Error::new(
                ErrorKind::Arguments,
                format!("the expression nests deeper than {DEEPEST} levels: calculate it in parts"),
            ));
        }
        self.depth += 1;
        let value = read(self);
        self.depth -= 1;
        value
    }

    /// The next symbol that is no space, in its plain form.
    fn peek(&mut self) -> Option<char> {
        while self.symbols.get(self.at).is_some_and(|symbol| symbol.is_whitespace()) {
            self.at += 1;
        }
        match *self.symbols.get(self.at)? {
            '*' if self.symbols.get(self.at + 1) == Some(&'*') => {
                self.at += 1;
                Some('^')
            }
            '×' | '·' => Some('*'),
            '÷' => Some('/'),
            '−' | '–' => Some('-'),
            '（' => Some('('),
            '）' => Some(')'),
            other => Some(other),
        }
    }

    fn place(&mut self) -> String {
        self.peek();
        format!("character {}", self.at + 1)
    }

    fn expected(&mut self, what: &str) -> Error {
        let found = match self.peek() {
            Some(',' | '_' | '\'') => "a separator: write 1000, not 1,000".to_owned(),
            Some('%') => "`%`: write 5 / 100 for 5 %".to_owned(),
            Some('=') => "`=`: this calculates, it does not solve".to_owned(),
            Some(symbol) if symbol.is_alphabetic() => {
                format!("`{symbol}`: only numbers and + - * / ^ are known")
            }
            Some(symbol) => format!("`{symbol}`"),
            None => "the end".to_owned(),
        };
        Error::new(ErrorKind::Arguments, format!("expected {what} at {}, found {found}", self.place()))
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::Failed, "a number on the way is beyond 38 digits: calculate with fewer digits")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn table() {
        let check = |expression: &str, expected: &str| {
            let shown = match calculate(expression) {
                Ok(value) => value.to_string(),
                Err(error) => error.to_string(),
            };
            assert_eq!(shown, expected, "{expression}");
        };
        check("1 + 2 * 3", "7");
        check("(1 + 2) * 3", "9");
        check("0.1 + 0.2", "0.3");
        check("1 - 2 - 3", "-4");
        check("8 / 4 / 2", "1");
        check("1/3*3", "1");
        check("1/3", "1/3 (0.333333333333…)");
        check("-2^2", "-4");
        check("(-2)^2", "4");
        check("2^-3", "0.125");
        check("2**3^2", "512");
        check("2 × (3 − 1) ÷ 8", "0.5");
        check("（1+1）·3", "6");
        check("--+-5", "-5");
        check(".5 + 5.", "5.5");
        check("0^0", "1");
        check("1^9000000000000000000", "1");
        check("170141183460469231731687303715884105727", "170141183460469231731687303715884105727");
        check("", "expected a number or `(` at character 1, found the end");
        check("1 +", "expected a number or `(` at character 4, found the end");
        check("1 2", "expected an operator or the end at character 3, found `2`");
        check("(1", "expected an operator or `)` at character 3, found the end");
        check("1)", "expected an operator or the end at character 2, found `)`");
        check(".", "expected a digit at character 2, found the end");
        check("1.2.3", "expected an operator or the end at character 4, found `.`");
        check(
            "1,000",
            "expected an operator or the end at character 2, found a separator: write 1000, not 1,000",
        );
        check(
            "sqrt(2)",
            "expected a number or `(` at character 1, found `s`: only numbers and + - * / ^ are known",
        );
        check("50%", "expected an operator or the end at character 3, found `%`: write 5 / 100 for 5 %");
        check("1 / (2 - 2)", "division by zero at character 5");
        check("0^-1", "division by zero at character 3");
        check("2^0.5", "the exponent at character 3 must be a whole number");
        check("10^40", "a number on the way is beyond 38 digits: calculate with fewer digits");
        check("9^99999999999", "a number on the way is beyond 38 digits: calculate with fewer digits");
        check(&"1".repeat(5000), "the expression is longer than 4000 characters: calculate it in parts");
        let deep = "the expression nests deeper than 64 levels: calculate it in parts";
        check(&"(".repeat(3999), deep);
        check(&"2^".repeat(1999), deep);
        check(&format!("{}1", "-".repeat(3998)), "1");
        check(&format!("{}1{}", "(".repeat(64), ")".repeat(64)), "1");
    }

    proptest! {
        /// Would fail if any text panicked, hung or overflowed the stack.
        #[test]
        fn never_panics(text in "[-+*/^().0-9 ×a天]{0,60}|\\PC{0,40}") {
            let _answer = calculate(&text).is_ok();
        }

        /// Would fail if binding or grouping differed from Rust's for the same expression.
        #[test]
        fn agrees_with_rust(a in -999i64..999, b in -999i64..999, c in -999i64..999) {
            let expected = a + b * c - (a - b) * -c;
            prop_assert_eq!(calculate(&format!("{a} + {b} * {c} - ({a} - {b}) * -{c}")).expect("fits").to_string(), expected.to_string());
        }
    }
}
