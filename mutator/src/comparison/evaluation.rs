//! What an expression comes to, as far as its own text says.

use std::collections::BTreeMap;

use ConstantValue::{Float, Integer, Time};
use syn::{BinOp, Expr, ExprBinary, ExprCall, Lit, Path, Stmt, Type, UnOp};

use super::value::{ConstantValue, Unit};
use crate::syntax::parts::type_name;
use crate::syntax::types::{is_float, is_integer};

/// So many constants may be named by each other: more are a circle.
const DEPTH_MAX: usize = 32;

/// Returns the value of an expression of numbers, lengths of time and `names`; `None` if it is anything else.
pub(super) fn evaluate(expression: &Expr, names: &BTreeMap<String, &Expr>) -> Option<ConstantValue> {
    Evaluation { names, depth: 0 }.value(expression)
}

struct Evaluation<'a> {
    names: &'a BTreeMap<String, &'a Expr>,
    depth: usize,
}

impl Evaluation<'_> {
    fn value(&self, expression: &Expr) -> Option<ConstantValue> {
        match expression {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Int(literal) => literal.base10_parse().ok().map(Integer),
                Lit::Float(literal) => literal.base10_parse().ok().map(Float),
                _ => None,
            },
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Block(block) => match &block.block.stmts[..] {
                [Stmt::Expr(value, None)] => self.value(value),
                _ => None,
            },
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => match self.value(&unary.expr)? {
                Integer(value) => value.checked_neg().map(Integer),
                Float(value) => Some(Float(-value)),
                Time(_) => None,
            },
            Expr::Cast(cast) => cast_to(self.value(&cast.expr)?, &cast.ty),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Path(path) if path.qself.is_none() => self.named(&path.path),
            Expr::Call(call) => self.call(call),
            _ => None,
        }
    }

    fn binary(&self, ExprBinary { left, op, right, .. }: &ExprBinary) -> Option<ConstantValue> {
        match (self.value(left)?, op, self.value(right)?) {
            (Integer(left), op, Integer(right)) => integer(left, op, right).map(Integer),
            (Float(left), op, Float(right)) => match op {
                BinOp::Add(_) => Some(Float(left + right)),
                BinOp::Sub(_) => Some(Float(left - right)),
                BinOp::Mul(_) => Some(Float(left * right)),
                BinOp::Div(_) => Some(Float(left / right)),
                _ => None,
            },
            (Time(left), BinOp::Add(_) | BinOp::Sub(_), Time(right))
            | (Time(left), BinOp::Mul(_) | BinOp::Div(_), Integer(right))
            | (Integer(left), BinOp::Mul(_), Time(right)) => integer(left, op, right).map(Time),
            _ => None,
        }
    }

    /// Returns what a path names: a constant of the file, or of a type of the standard library.
    fn named(&self, path: &Path) -> Option<ConstantValue> {
        let segments: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match segments[..] {
            [.., ty, "ZERO"] if is_time(ty) => Some(Time(0)),
            [.., ty, end @ ("MAX" | "MIN")] if is_integer(ty) => limit(ty, end == "MAX").map(Integer),
            [name] | ["Self" | "self", name] if self.depth < DEPTH_MAX => {
                let value = self.names.get(name)?;
                Evaluation { depth: self.depth + 1, ..*self }.value(value)
            }
            _ => None,
        }
    }

    /// Returns the length of time that a constructor makes.
    fn call(&self, ExprCall { func, args, .. }: &ExprCall) -> Option<ConstantValue> {
        let Expr::Path(path) = &**func else { return None };
        let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let [.., ty, constructor] = &segments[..] else { return None };
        if !is_time(ty) {
            return None;
        }
        let arguments: Option<Vec<ConstantValue>> = args.iter().map(|argument| self.value(argument)).collect();
        let unit = match constructor.as_str() {
            "from_nanos" => Unit::Nanos,
            "from_micros" => Unit::Micros,
            "from_millis" => Unit::Millis,
            "from_secs" | "from_secs_f64" | "from_secs_f32" => Unit::Seconds,
            "from_mins" => Unit::Minutes,
            "new" => match arguments?[..] {
                [Integer(seconds), Integer(nanos)] => {
                    return seconds.checked_mul(Unit::Seconds.nanos())?.checked_add(nanos).map(Time);
                }
                _ => return None,
            },
            _ => return None,
        };
        match arguments?[..] {
            [Time(_)] => None,
            [value] => value.in_unit(unit),
            _ => None,
        }
    }
}

fn is_time(ty: &str) -> bool {
    ty.ends_with("Duration") || ty.ends_with("Time")
}

fn integer(left: i128, op: &BinOp, right: i128) -> Option<i128> {
    match op {
        BinOp::Add(_) => left.checked_add(right),
        BinOp::Sub(_) => left.checked_sub(right),
        BinOp::Mul(_) => left.checked_mul(right),
        BinOp::Div(_) => left.checked_div(right),
        BinOp::Rem(_) => left.checked_rem(right),
        BinOp::Shl(_) => 1_i128.checked_shl(right.try_into().ok()?).and_then(|factor| left.checked_mul(factor)),
        BinOp::Shr(_) => left.checked_shr(right.try_into().ok()?),
        BinOp::BitAnd(_) => Some(left & right),
        BinOp::BitOr(_) => Some(left | right),
        BinOp::BitXor(_) => Some(left ^ right),
        _ => None,
    }
}

fn cast_to(value: ConstantValue, ty: &Type) -> Option<ConstantValue> {
    let ty = type_name(ty);
    match value {
        Integer(value) if is_float(&ty) => Some(Float(value as f64)),
        Float(value) if is_integer(&ty) => cast_to(Integer(value as i128), &syn::parse_str(&ty).ok()?),
        // What does not fit would be cut.
        Integer(value) if is_integer(&ty) => {
            (limit(&ty, false)? <= value && value <= limit(&ty, true)?).then_some(Integer(value))
        }
        Float(_) if is_float(&ty) => Some(value),
        Integer(_) | Float(_) | Time(_) => None,
    }
}

/// Returns the greatest or least value of an integer type, on a machine of 64 bits.
fn limit(ty: &str, is_greatest: bool) -> Option<i128> {
    let (is_signed, bits) = (ty.starts_with('i'), ty[1..].parse().unwrap_or(64_u32));
    if !is_signed && bits == 128 {
        return (!is_greatest).then_some(0);
    }
    let half = i128::MAX >> (128 - bits);
    Some(match (is_signed, is_greatest) {
        (true, true) => half,
        (true, false) => -half - 1,
        (false, true) => half.checked_mul(2)? + 1,
        (false, false) => 0,
    })
}
