//! Data flow: where variables get their values, where the values are used, and which uses can see which definitions.
//!
//! The requirements of all-defs, all-uses and all-p-uses (Rapps and Weyuker, IEEE TSE 1985; Frankl and Weyuker, IEEE
//! TSE 1988) come from reaching definitions over the control-flow graphs. A use in a condition, a `match`, the operand
//! of `?` or the head of a `for` loop is a p-use: it makes a pair for each way that the decision can go.
//!
//! # Variables
//!
//! Variables are bindings, not names: parameters, and what patterns bind. The fields of `self` are variables of their
//! type, across its methods: what reaches the end of a method, or a call or `await` inside it, reaches the beginning of
//! every method and the way back from every call. `self.a.b` is a use of `self.a`. The fields of a struct literal are
//! defined by it.
//!
//! # What defines
//!
//! An assignment defines the variable that its place begins with, so does one to an element or a field of it. The call
//! of a method defines its receiver unless its name is known to be harmless, since nothing is known of its body (the
//! same as in Rutherford's thesis, section 3.2); an argument `&mut x` defines `x` when the call returns, and `&mut x`
//! elsewhere does so at once.
//!
//! # Limits
//!
//! - A use counts where a probe can stand: before the statement that it is in, or after the last call before it. The
//!   scrutinee of a `let` in a chain has no such place if it is a variable itself, and is left out. In a chain, uses in
//!   a `let` make pairs with its success only.
//! - Of macros, only the common ones of the standard library are looked into; of assertions, only what is asserted.
//! - A closure or `async` block that is not `move` shares variables with its function. As the compiler has it, no
//!   assignment to one of them stands between its making and a later call; a method call that counts as a definition
//!   can, and so can one of a field.
//! - A variable is not followed through references to it. A field that is assigned from outside of its type's methods
//!   is not defined by that, the variable that holds the object is.
//! - A `self` that is taken by value is a variable as others are.

mod certain;
mod reaching;

pub(crate) use certain::{certain_uses, dominates};
pub(crate) use reaching::{Analysis, FunctionFlow, PairSite, VariableKey, analyse, variable_key};

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::test_support::pairs;

    #[test]
    fn uses_in_conditions_make_a_pair_for_each_way_out() {
        assert_snapshot!(pairs(
            "fn f(a: u32) -> u32 {
    let mut b = 0;
    if a > 1 {
        b = a;
    }
    while b < 9 { b += 1; }
    b
}"
        ));
    }

    #[test]
    fn a_name_is_a_binding() {
        assert_snapshot!(pairs(
            "fn f(a: u32) -> u32 {
    let b = a;
    { let a = b; g(a); }
    let a = a + b;
    a
}"
        ));
    }

    #[test]
    fn patterns_define_where_they_match() {
        assert_snapshot!(pairs(
            "fn f(a: Option<u32>, b: Vec<u32>) {
    let Some(c) = a else { return };
    match a {
        Some(d) if d > c => g(d),
        Some(d) => h(d),
        NONE => {}
    }
    for e in b { g(e); }
    while let Some(k) = g(c) && k > 1 { h(k); }
}"
        ));
    }

    #[test]
    fn calls_of_methods_define_their_receiver_and_borrowed_arguments() {
        assert_snapshot!(pairs(
            "fn f(mut a: Vec<u32>, mut b: u32) {
    a.push(1);
    a.len();
    g(&mut b, a);
    h(b);
    a[b] = 2;
    let c = &mut a;
    *c = b?;
    g(c);
}"
        ));
    }

    #[test]
    fn fields_connect_the_methods_of_a_type() {
        assert_snapshot!(pairs(
            "struct S { a: u32, b: u32 }
impl S {
    fn new(b: u32) -> Self {
        Self { a: 0, b }
    }
    fn grow(&mut self) {
        self.a += self.b;
        self.check();
        g(self.a);
        self.a = 1;
    }
    fn check(&self) {
        assert!(self.a > self.b, \"{}\", self.a);
    }
}"
        ));
    }

    #[test]
    fn closures_share_or_capture() {
        assert_snapshot!(pairs(
            "fn f(mut a: u32, mut b: u32) {
    a = 1;
    let mut c = || { a += 2; };
    c();
    let d = move || b;
    b = 3;
    g(a, b, d);
}"
        ));
    }

    #[test]
    fn the_arguments_of_known_macros_are_used() {
        assert_snapshot!(pairs(
            "fn f(a: u32, b: u32, c: u32) {
    assert_eq!(a, b, \"{c}\");
    println!(\"{a} {}\", b);
    unknown!(c);
}"
        ));
    }
}
