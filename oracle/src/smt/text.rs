//! How a question is written.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Asked, Question, Reached};
use crate::{Order, Specification};

/// How comments name states, operations and responses.
pub(crate) struct Words<S: Specification> {
    /// `None` where there are no words for states.
    pub(crate) state: fn(&S) -> Option<String>,
    pub(crate) operation: fn(&S::Operation) -> String,
    pub(crate) response: fn(&S::Response) -> String,
}

/// Returns a whole script.
pub(super) fn write(question: &Question, reached: &Reached, order: &Order) -> String {
    let mut script = Script { text: String::new(), question, position_bits: 0, state_bits: 0 };
    script.comment(&format!(
        "Is there an order of the {} calls that had an effect, and of some of {} that may have had one,",
        question.certain,
        question.calls.len() - question.certain
    ));
    script.comment("in which the specification gives the answers that clients observed? It is known of the order:");
    script.comment(&format!("{order:?}"));
    script.line("(set-logic QF_BV)");
    if question.is_cyclic {
        script.comment("A call comes before itself.");
        script.line("(assert false)");
    } else {
        script.states(reached);
        script.calls();
        script.order();
        script.steps(reached);
    }
    script.line("(check-sat)");
    script.text
}

struct Script<'q> {
    text: String,
    question: &'q Question,
    position_bits: usize,
    state_bits: usize,
}

impl Script<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A comment is a line, whatever it is about.
    fn comment(&mut self, words: &str) {
        let words: String = words.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.line(&format!("; {words}"));
    }

    fn states(&mut self, reached: &Reached) {
        self.state_bits = bits(reached.states.len());
        self.comment("The states that the calls reach, and the one before each position.");
        self.line(&format!("(define-sort State () (_ BitVec {}))", self.state_bits));
        for (number, words) in (0..).zip(&reached.states) {
            if let Some(words) = words {
                self.comment(&format!("{}: {words}", self.state(number)));
            }
        }
        for position in 0..=self.question.calls.len() {
            self.line(&format!("(declare-const s_{position} State)"));
        }
        self.line(&format!("(assert (= s_0 {}))", self.state(0)));
    }

    fn calls(&mut self) {
        let question = self.question;
        self.position_bits = bits(question.calls.len());
        self.comment("The calls, and the position of each.");
        self.line(&format!("(define-sort Position () (_ BitVec {}))", self.position_bits));
        for asked in &question.calls {
            let place = asked.place;
            self.comment(&format!("call {place}, {}", asked.words));
            self.line(&format!("(declare-const t_{place} Position)"));
            if !asked.is_certain() {
                self.line(&format!("(declare-const e_{place} Bool)"));
            }
        }
    }

    fn order(&mut self) {
        let question = self.question;
        let calls = &question.calls;
        self.comment("Each call has a position of its own, within bounds that its order with others sets.");
        for asked in calls {
            let (first, last) = asked.window;
            let (first, last) = (self.position(first), self.position(last));
            let place = asked.place;
            self.when(&[asked], &format!("(and (bvule {first} t_{place}) (bvule t_{place} {last}))"));
        }
        if calls.len() > 1 {
            let all: Vec<String> = calls.iter().map(|asked| format!("t_{}", asked.place)).collect();
            self.line(&format!("(assert (distinct {}))", all.join(" ")));
        }
        self.comment("The order of calls that had an effect.");
        for &(one, other) in &question.ordered {
            let (one, other) = (&calls[one], &calls[other]);
            self.when(&[one, other], &format!("(bvult t_{} t_{})", one.place, other.place));
            if one.is_waited_for() {
                self.when(&[other], &format!("e_{}", one.place));
            }
        }
        let doubtful: Vec<&Asked> = calls.iter().filter(|asked| !asked.is_certain()).collect();
        if !doubtful.is_empty() {
            self.comment("Calls without an effect come last, in the order of the history: one of many orders does.");
        }
        for (number, one) in doubtful.iter().enumerate() {
            let (at_first, at_last) = (self.position(question.certain), self.position(calls.len() - 1));
            let place = one.place;
            self.line(&format!(
                "(assert (or e_{place} (and (bvule {at_first} t_{place}) (bvule t_{place} {at_last}))))"
            ));
            for other in &doubtful[number + 1..] {
                let (one, other) = (one.place, other.place);
                self.line(&format!("(assert (or e_{one} (= e_{other} (bvult t_{other} t_{one}))))"));
                self.line(&format!("(assert (=> (and e_{one} (not e_{other})) (bvult t_{one} t_{other})))"));
            }
        }
    }

    fn steps(&mut self, reached: &Reached) {
        let question = self.question;
        for (asked, table) in question.calls.iter().zip(&reached.tables) {
            self.comment(&format!("What call {} may do.", asked.place));
            self.line(&format!("(define-fun c_{} ((before State) (after State)) Bool", asked.place));
            let table = self.table(table);
            self.line(&format!("  {table})"));
            for position in 0..question.calls.len() {
                let (at, place) = (self.position(position), asked.place);
                let (before, after) = (format!("s_{position}"), format!("s_{}", position + 1));
                if asked.fits(position) {
                    self.when(&[asked], &format!("(=> (= t_{place} {at}) (c_{place} {before} {after}))"));
                }
                if !asked.is_certain() && position >= question.certain {
                    self.line(&format!("(assert (=> (and (not e_{place}) (= t_{place} {at})) (= {before} {after})))"));
                }
            }
        }
    }

    /// Writes an assertion that holds if calls have an effect.
    fn when(&mut self, calls: &[&Asked], what: &str) {
        let doubtful: Vec<String> =
            calls.iter().filter(|asked| !asked.is_certain()).map(|asked| format!("e_{}", asked.place)).collect();
        let line = match doubtful.as_slice() {
            [] => format!("(assert {what})"),
            [one] => format!("(assert (=> {one} {what}))"),
            several => format!("(assert (=> (and {}) {what}))", several.join(" ")),
        };
        self.line(&line);
    }

    /// Returns which states may be before and after a call: those that it leaves as they are, and then, for each state
    /// after it, those before it.
    fn table(&self, table: &BTreeMap<u32, Vec<u32>>) -> String {
        let mut unchanged = Vec::new();
        let mut by_after: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (&before, after) in table {
            for &after in after {
                if after == before {
                    unchanged.push(before);
                } else {
                    by_after.entry(after).or_default().push(before);
                }
            }
        }
        let mut cases = Vec::new();
        if !unchanged.is_empty() {
            cases.push(format!("(and (= before after) {})", self.is_one_of(&unchanged)));
        }
        for (after, before) in by_after {
            cases.push(format!("(and (= after {}) {})", self.state(after), self.is_one_of(&before)));
        }
        any(&cases)
    }

    fn is_one_of(&self, states: &[u32]) -> String {
        let cases: Vec<String> = states.iter().map(|&state| format!("(= before {})", self.state(state))).collect();
        any(&cases)
    }

    fn state(&self, number: u32) -> String {
        vector(number as usize, self.state_bits)
    }

    fn position(&self, number: usize) -> String {
        vector(number, self.position_bits)
    }
}

/// Returns a disjunction.
fn any(cases: &[String]) -> String {
    match cases {
        [] => "false".to_owned(),
        [one] => one.clone(),
        several => format!("(or {})", several.join(" ")),
    }
}

/// Returns how many bits tell numbers below a bound apart: at least one.
const fn bits(bound: usize) -> usize {
    let bits = usize::BITS - bound.saturating_sub(1).leading_zeros();
    if bits == 0 { 1 } else { bits as usize }
}

fn vector(number: usize, bits: usize) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    _ = write!(text, "#b{number:0bits$b}");
    text
}
