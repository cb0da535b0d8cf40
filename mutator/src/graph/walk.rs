//! Collects the definitions and uses of a function while its graph is made.

use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{Expr, ExprClosure, Macro, Member, Pat, UnOp};

use super::bindings::{self, Signature};
use super::blocks::BlockId;
use super::events::{Action, Anchor, Birth, Closure, Event, EventId, Flow, Variable, VariableKind};
use crate::syntax::parts::range_of;

/// The state of the walk through a function.
#[derive(Debug)]
pub(crate) struct Walk {
    pub(crate) flow: Flow,
    /// Where the probe of the next event goes; `None` where none can stand.
    pub(crate) cursor: Option<Anchor>,
    /// What the uses of an expression decide, as an index into [`Flow::predicates`].
    pub(crate) predicate: Option<usize>,
    scopes: Vec<Scope>,
    closures: Vec<usize>,
    /// For each call whose arguments are being evaluated, the variables that it may define when it returns.
    borrowed: Vec<Vec<(usize, Range<usize>)>>,
    type_name: Option<String>,
}

#[derive(Debug, Default)]
struct Scope {
    names: Vec<(String, usize)>,
    /// Where the scope of a `move` closure captures variables.
    capture: Option<Capture>,
}

/// Where a `move` closure or block is made: it has variables of its own from there on.
#[derive(Debug, Clone)]
struct Capture {
    block: BlockId,
    cursor: Option<Anchor>,
    depth: usize,
    /// The closure.
    range: Range<usize>,
}

/// What a place expression begins with.
enum Root {
    Name(String),
    Field(String),
}

impl Walk {
    pub(crate) fn new(signature: &Signature) -> Self {
        let receiver = signature.type_name.clone().filter(|_| signature.borrows_self);
        Self {
            flow: Flow { receiver, name: signature.name.clone(), ..Flow::default() },
            cursor: None,
            predicate: None,
            scopes: vec![Scope::default()],
            closures: Vec::new(),
            borrowed: Vec::new(),
            type_name: signature.type_name.clone(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(crate) fn close(&mut self) {
        self.scopes.pop();
    }

    /// Opens the scope of a closure or an `async` block that is made in `block`.
    pub(crate) fn open_closure(&mut self, block: BlockId, captures_by_move: bool, range: Range<usize>) {
        let depth = self.closures.len();
        let capture = captures_by_move.then(|| Capture { block, cursor: self.cursor.clone(), depth, range });
        self.scopes.push(Scope { names: Vec::new(), capture });
        self.closures.push(self.flow.closures.len());
        self.flow.closures.push(Closure { block, at: 0, body: 0..0 });
    }

    /// Closes the scope of the innermost open closure or `async` block, whose body became the blocks of `body`.
    ///
    /// The closure is made at the end of what its block has so far: events that follow in that block come after it.
    pub(crate) fn close_closure(&mut self, body: Range<BlockId>) {
        self.scopes.pop();
        let closure = self.closures.pop().expect("it was opened");
        let block = self.flow.closures[closure].block;
        let at = self.flow.blocks.get(block).map_or(0, Vec::len);
        self.flow.closures[closure] = Closure { block, at, body };
    }

    fn event(&mut self, action: Action, range: Range<usize>) -> EventId {
        self.flow.events.push(Event { action, range, closures: self.closures.clone(), by_method: false });
        self.flow.events.len() - 1
    }

    /// Puts an event at the end of a block.
    pub(crate) fn place(&mut self, block: BlockId, event: EventId) {
        if self.flow.blocks.len() <= block {
            self.flow.blocks.resize(block + 1, Vec::new());
        }
        self.flow.blocks[block].push(event);
    }

    /// Puts the probes of events at an anchor, after those that are there.
    pub(crate) fn anchor(&mut self, anchor: &Anchor, events: &[EventId]) {
        if events.is_empty() {
            return;
        }
        match self.flow.anchors.iter_mut().rfind(|(known, _)| known == anchor) {
            Some((_, known)) => known.extend(events),
            None => self.flow.anchors.push((anchor.clone(), events.to_vec())),
        }
    }

    /// Adds an event at the cursor; without a cursor, no probe can stand there, and the event is left out.
    fn emit(&mut self, block: BlockId, action: Action, range: Range<usize>) {
        let Some(cursor) = self.cursor.clone() else { return };
        let event = self.event(action, range);
        self.place(block, event);
        self.anchor(&cursor, &[event]);
    }

    /// Declares the variables that a pattern binds. Returns their definitions, which are in no block yet.
    pub(crate) fn bind(&mut self, pattern: &Pat) -> Vec<EventId> {
        let mut found = Vec::new();
        bindings::bindings(pattern, &mut found);
        self.bind_names(found)
    }

    pub(crate) fn bind_names(&mut self, names: Vec<(String, Range<usize>)>) -> Vec<EventId> {
        let declared = names.into_iter().map(|(name, range)| {
            let depth = self.closures.len();
            let variable = self.variable(Variable { name: name.clone(), kind: VariableKind::Local { depth } });
            self.scopes.last_mut().expect("there is one for the function").names.push((name, variable));
            self.event(Action::Define(variable), range)
        });
        declared.collect()
    }

    fn variable(&mut self, variable: Variable) -> usize {
        self.flow.variables.push(variable);
        self.flow.variables.len() - 1
    }

    fn resolve(&mut self, name: &str) -> Option<usize> {
        self.resolve_below(self.scopes.len(), name)
    }

    /// Resolves a name in the first `level` scopes.
    fn resolve_below(&mut self, level: usize, name: &str) -> Option<usize> {
        for index in (0..level).rev() {
            let scope = &self.scopes[index];
            if let Some((_, variable)) = scope.names.iter().rfind(|(known, _)| known == name) {
                return Some(*variable);
            }
            let Some(Capture { block, cursor, depth, range }) = scope.capture.clone() else { continue };
            let outer = self.resolve_below(index, name)?;
            let kind = VariableKind::Local { depth: depth + 1 };
            let own = self.variable(Variable { name: name.to_owned(), kind });
            self.scopes[index].names.push((name.to_owned(), own));
            let inside = self.closures.split_off(depth);
            let captured = self.event(Action::Use { variable: outer, predicate: None }, range.clone());
            let defined = self.event(Action::Define(own), range);
            self.closures.extend(inside);
            for event in [captured, defined] {
                self.place(block, event);
            }
            if let Some(cursor) = cursor {
                self.anchor(&cursor, &[captured, defined]);
            }
            return Some(own);
        }
        None
    }

    fn field(&mut self, name: String) -> usize {
        let wanted = Variable { name: format!("self.{name}"), kind: VariableKind::Field };
        match self.flow.variables.iter().position(|variable| *variable == wanted) {
            Some(known) => known,
            None => self.variable(wanted),
        }
    }

    fn is_self(&self, expression: &Expr) -> bool {
        matches!(expression, Expr::Path(path) if path.path.is_ident("self")) && self.flow.receiver.is_some()
    }

    /// Returns the field's name if an expression is `self.name`.
    pub(crate) fn own_field(&self, expression: &Expr) -> Option<String> {
        match expression {
            Expr::Field(inner) if self.is_self(&inner.base) => Some(member_name(&inner.member)),
            _ => None,
        }
    }

    fn root(&self, expression: &Expr) -> Option<Root> {
        match expression {
            Expr::Path(path) => path.path.get_ident().map(|ident| Root::Name(ident.to_string())),
            Expr::Field(inner) => self.own_field(expression).map(Root::Field).or_else(|| self.root(&inner.base)),
            Expr::Index(inner) => self.root(&inner.expr),
            Expr::Paren(inner) => self.root(&inner.expr),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) => self.root(&inner.expr),
            _ => None,
        }
    }

    fn root_variable(&mut self, expression: &Expr) -> Option<usize> {
        match self.root(expression)? {
            Root::Name(name) => self.resolve(&name),
            Root::Field(name) => Some(self.field(name)),
        }
    }

    fn emit_use(&mut self, block: BlockId, variable: usize, range: Range<usize>) {
        self.emit(block, Action::Use { variable, predicate: self.predicate }, range);
    }

    /// A name that is an expression.
    pub(crate) fn name(&mut self, block: BlockId, path: &syn::Path, range: Range<usize>) {
        if let Some(ident) = path.get_ident()
            && let Some(variable) = self.resolve(&ident.to_string())
        {
            self.emit_use(block, variable, range);
        }
    }

    /// A field of `self` that is an expression.
    pub(crate) fn use_field(&mut self, block: BlockId, name: String, range: Range<usize>) {
        let variable = self.field(name);
        self.emit_use(block, variable, range);
    }

    /// The variable that a place begins with is defined once `whole` has been evaluated.
    pub(crate) fn define_after(&mut self, block: BlockId, place: &Expr, whole: Range<usize>) {
        if let Some(variable) = self.root_variable(place) {
            self.cursor = Some(Anchor::After(whole));
            self.emit(block, Action::Define(variable), range_of(place));
        }
    }

    /// A call begins to evaluate its arguments.
    pub(crate) fn open_call(&mut self) {
        self.borrowed.push(Vec::new());
    }

    /// A call returns: `whole` is all of it.
    pub(crate) fn close_call(
        &mut self,
        block: BlockId,
        receiver: Option<(&Expr, &str)>,
        arguments: &[&Expr],
        whole: Range<usize>,
    ) {
        let mut defined = self.borrowed.pop().expect("it was opened");
        let mut by_method = false;
        if let Some((receiver, method)) = receiver
            && !bindings::is_harmless(method)
            && let Some(variable) = self.root_variable(receiver)
        {
            defined.push((variable, range_of(receiver)));
            by_method = true;
        }
        let called = receiver;
        let receiver = receiver.map(|(receiver, _)| receiver);
        let passes_self =
            receiver.into_iter().chain(arguments.iter().copied()).any(|argument| self.passes_self(argument));
        if passes_self || !defined.is_empty() {
            self.cursor = Some(Anchor::After(whole.clone()));
        }
        if passes_self {
            let method = called.filter(|(receiver, _)| self.is_self(receiver)).map(|(_, method)| method);
            let is_passed_on = arguments.iter().any(|argument| self.passes_self(argument));
            self.exchange(block, method.filter(|_| !is_passed_on), whole.clone());
        }
        for (variable, range) in defined {
            self.emit(block, Action::Define(variable), range);
        }
        if by_method && let Some(last) = self.flow.events.last_mut() {
            last.by_method = true;
        }
    }

    fn passes_self(&self, argument: &Expr) -> bool {
        match argument {
            Expr::Reference(inner) => self.passes_self(&inner.expr),
            Expr::Unary(inner) => self.passes_self(&inner.expr),
            Expr::Paren(inner) => self.passes_self(&inner.expr),
            _ => self.is_self(argument),
        }
    }

    /// Other methods of the type can run here: one that is called on `self`, or any.
    pub(crate) fn exchange(&mut self, block: BlockId, method: Option<&str>, range: Range<usize>) {
        if self.flow.receiver.is_some() {
            let callee = method.map(|method| {
                self.flow.callees.push(method.to_owned());
                self.flow.callees.len() - 1
            });
            let event = self.event(Action::Exchange { callee }, range);
            self.place(block, event);
        }
    }

    /// `&mut place` has been evaluated.
    pub(crate) fn borrow(&mut self, block: BlockId, place: &Expr) {
        let Some(variable) = self.root_variable(place) else { return };
        match self.borrowed.last_mut() {
            Some(borrowed) => borrowed.push((variable, range_of(place))),
            None => self.emit(block, Action::Define(variable), range_of(place)),
        }
    }

    /// Returns the borrows of the calls around a body that is evaluated apart from them.
    pub(crate) fn leave_calls(&mut self) -> Vec<Vec<(usize, Range<usize>)>> {
        std::mem::take(&mut self.borrowed)
    }

    pub(crate) fn enter_calls(&mut self, calls: Vec<Vec<(usize, Range<usize>)>>) {
        self.borrowed = calls;
    }

    /// A struct literal, or a call of the function that a tuple struct is.
    pub(crate) fn birth(
        &mut self,
        block: BlockId,
        path: &syn::Path,
        fields: Vec<(String, Range<usize>)>,
        whole: Range<usize>,
    ) {
        let Some(last) = path.segments.last() else { return };
        let name = last.ident.to_string();
        let type_name = match &self.type_name {
            Some(own) if path.is_ident("Self") => own.clone(),
            _ if name.starts_with(char::is_uppercase) => name,
            _ => return,
        };
        let number = self.flow.births.len();
        self.flow.births.push(Birth { type_name, fields });
        self.emit(block, Action::Birth(number), whole);
    }

    /// The arguments of a macro call.
    pub(crate) fn macro_call(&mut self, block: BlockId, mac: &Macro, whole: Range<usize>) {
        let (arguments, mentioned) = bindings::macro_arguments(mac);
        let mut inside = Inside { walk: self, block, bound: Vec::new() };
        for argument in &arguments {
            inside.visit_expr(argument);
        }
        for (name, range) in mentioned {
            if let Some(variable) = self.resolve(&name) {
                self.emit_use(block, variable, range);
            }
        }
        let writes =
            mac.path.segments.last().is_some_and(|segment| segment.ident == "write" || segment.ident == "writeln");
        if writes && let Some(target) = arguments.first() {
            self.define_after(block, target, whole);
        }
    }

    /// Makes a predicate that decides between branches.
    pub(crate) fn new_predicate(&mut self, branches: Vec<usize>) -> usize {
        self.flow.predicates.push(branches);
        self.flow.predicates.len() - 1
    }

    /// Adds definitions to what is bound on the way that `known` is about, and returns the new one.
    pub(crate) fn bound(&mut self, known: Option<usize>, events: &[EventId]) -> Option<usize> {
        if events.is_empty() {
            return known;
        }
        let mut all = known.map_or_else(Vec::new, |known| self.flow.bindings[known].clone());
        all.extend(events);
        self.flow.bindings.push(all);
        Some(self.flow.bindings.len() - 1)
    }
}

/// Finds the uses in the arguments of a macro.
struct Inside<'a> {
    walk: &'a mut Walk,
    block: BlockId,
    /// What closures in there bind.
    bound: Vec<(String, Range<usize>)>,
}

impl<'ast> Visit<'ast> for Inside<'_> {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        let range = range_of(expression);
        match expression {
            Expr::Path(path) => {
                let is_bound = |(name, _): &(String, _)| path.path.is_ident(name);
                if !self.bound.iter().any(is_bound) {
                    self.walk.name(self.block, &path.path, range);
                }
            }
            Expr::Field(_) if let Some(name) = self.walk.own_field(expression) => {
                self.walk.use_field(self.block, name, range);
            }
            Expr::MethodCall(call) if self.walk.is_self(&call.receiver) => {
                visit::visit_expr(self, expression);
                self.walk.exchange(self.block, Some(&call.method.to_string()), range);
            }
            _ => visit::visit_expr(self, expression),
        }
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        let known = self.bound.len();
        closure.inputs.iter().for_each(|pattern| bindings::bindings(pattern, &mut self.bound));
        self.visit_expr(&closure.body);
        self.bound.truncate(known);
    }

    fn visit_pat(&mut self, _: &'ast Pat) {}
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(ident) => ident.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// Returns the name of a field of a struct literal.
pub(crate) fn literal_fields(literal: &syn::ExprStruct) -> Vec<(String, Range<usize>)> {
    literal.fields.iter().map(|field| (member_name(&field.member), range_of(field))).collect()
}
