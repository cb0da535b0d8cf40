//! Transitions: from which states to which one, and what is done.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::step::{Exception, Step, Stop};

/// What a transition does: it ends when the action does.
pub(crate) type Done<'a> = Pin<Box<dyn Future<Output = Result<(), Stop>> + 'a>>;

/// An action that is called by what the machine's model is.
pub(crate) trait Action<M> {
    fn act<'a>(&'a self, model: &'a mut M, step: &'a mut Step<'_>) -> Done<'a>;
}

impl<M, F> Action<M> for F
where
    F: for<'a, 'b> AsyncFn(&'a mut M, &'a mut Step<'b>) -> Result<(), Stop>,
{
    fn act<'a>(&'a self, model: &'a mut M, step: &'a mut Step<'_>) -> Done<'a> {
        Box::pin(self(model, step))
    }
}

/// Does nothing.
struct Skip;

impl<M> Action<M> for Skip {
    fn act<'a>(&'a self, _: &'a mut M, _: &'a mut Step<'_>) -> Done<'a> {
        // A future of no size, for which nothing is allocated.
        Box::pin(std::future::ready(Ok(())))
    }
}

/// An exception that is expected of an action.
#[derive(Clone)]
pub(crate) struct Expected {
    /// Its name in reports and coverage.
    pub(crate) name: Rc<str>,
    /// The state that it leads to; `None` for where the transition leads anyway.
    pub(crate) target: Option<Rc<str>>,
    pub(crate) is_it: Rc<dyn Fn(&Exception) -> bool>,
}

/// Another next state than that of the arrow.
pub(crate) struct NextIf<M> {
    pub(crate) target: Rc<str>,
    pub(crate) condition: Rc<dyn Fn(&M) -> bool>,
}

impl<M> Clone for NextIf<M> {
    fn clone(&self) -> Self {
        Self { target: self.target.clone(), condition: self.condition.clone() }
    }
}

/// A transition of a [`Machine`](crate::Machine), from one state or several to one.
pub struct Transition<M> {
    /// As it was written: `open | bound -> closed`.
    pub(crate) arrow: String,
    pub(crate) label: Option<String>,
    pub(crate) weight: f64,
    pub(crate) action: Rc<dyn Action<M>>,
    /// Those that lead to other states, or that may occur.
    pub(crate) catches: Vec<Expected>,
    /// The one that has to occur.
    pub(crate) throws: Option<Expected>,
    pub(crate) next_if: Vec<NextIf<M>>,
}

impl<M> Clone for Transition<M> {
    fn clone(&self) -> Self {
        Self {
            arrow: self.arrow.clone(),
            label: self.label.clone(),
            weight: self.weight,
            action: self.action.clone(),
            catches: self.catches.clone(),
            throws: self.throws.clone(),
            next_if: self.next_if.clone(),
        }
    }
}

impl<M> fmt::Debug for Transition<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Transition")
            .field("arrow", &self.arrow)
            .field("weight", &self.weight)
            .finish_non_exhaustive()
    }
}

/// Returns a transition with an action. The arrow is `FROM -> TO`, or `FROM | FROM -> TO` from several states.
///
/// The action gets the machine's model and the [`Step`], which has what an action may ask: preconditions, assertions,
/// choices, further machines. An error that it returns is an exception, which [`Transition::catches`] or
/// [`Transition::throws`] expect; any other fails the test.
pub fn transition<M, F>(arrow: &str, action: F) -> Transition<M>
where
    M: 'static,
    F: for<'a, 'b> AsyncFn(&'a mut M, &'a mut Step<'b>) -> Result<(), Stop> + 'static,
{
    Transition::with(arrow, Rc::new(action))
}

/// Returns a transition that does nothing but change the state.
pub fn skip<M: 'static>(arrow: &str) -> Transition<M> {
    Transition::with(arrow, Rc::new(Skip))
}

impl<M: 'static> Transition<M> {
    fn with(arrow: &str, action: Rc<dyn Action<M>>) -> Self {
        let (label, weight, catches, throws, next_if) = (None, 1.0, Vec::new(), None, Vec::new());
        Self { arrow: arrow.to_owned(), label, weight, action, catches, throws, next_if }
    }

    /// Names the transition, where the arrow alone does not tell it from others.
    ///
    /// ```
    /// use simutant_models::{Machine, skip};
    ///
    /// let names = |machine: Machine<()>| -> Vec<String> {
    ///     machine.shape().transitions.iter().map(|transition| transition.name.clone()).collect()
    /// };
    /// let arrows = [skip("a -> b"), skip("a | b -> c").label("leave")];
    /// assert_eq!(names(Machine::new("m", ["a", "b", "c"], arrows)?), ["a -> b", "leave (a)", "leave (b)"]);
    /// // Without it, two transitions between the same states have one name.
    /// assert!(Machine::<()>::new("m", ["a", "b"], [skip("a -> b"), skip("a -> b")]).is_err());
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        self.label = Some(label.to_owned());
        self
    }

    /// Says how often the transition is taken, relative to others that are possible (1 by default), by strategies that
    /// look at weights. With 0 they never take it.
    ///
    /// ```
    /// use simutant_models::{Machine, Walker, Weighted, skip};
    ///
    /// let arrows = [skip("on -> on").weight(9.0), skip("on -> off"), skip("on -> broken").weight(0.0)];
    /// let switch = Machine::new("switch", ["on", "off", "broken"], arrows)?;
    /// let mut walker = Walker::new().with_strategy(Weighted);
    /// let taken: usize = (0..1_000).map(|seed| walker.run(switch.with(()), seed).taken.len()).sum();
    /// // Nine of ten transitions lead back, so walks have ten on average; none leads to the state of weight 0.
    /// assert!((9_000..11_000).contains(&taken));
    /// assert_eq!(walker.coverage().states(), (2, 3));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// Expects that an action may end with an exception, which then leads to another state.
    ///
    /// `name` is the exception's in reports.
    ///
    /// ```
    /// use simutant_models::{Machine, Step, StepResult, Walker, transition};
    ///
    /// let parse = transition("read -> number", async |text: &mut &str, _: &mut Step<'_>| {
    ///     text.parse::<u8>()?;
    ///     Ok(())
    /// })
    /// .catches("ParseIntError", "no number", |_: &std::num::ParseIntError| true);
    /// let reader = Machine::new("reader", ["read", "number", "no number"], [parse])?;
    /// let result = |text| Walker::new().run(reader.with(text), 7).taken[0].result;
    /// assert_eq!((result("12"), result("twelve")), (StepResult::Succeeded, StepResult::Exceptional(0)));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn catches<E: Error + 'static>(
        mut self,
        name: &str,
        target: &str,
        is_it: impl Fn(&E) -> bool + 'static,
    ) -> Self {
        self.catches.push(Expected::new(name, Some(target), is_it));
        self
    }

    /// Expects that the action ends with an exception: without one, or with another one, the test fails.
    ///
    /// ```
    /// use simutant_models::{Machine, Step, Walker, transition};
    ///
    /// let refuse = transition("read -> refused", async |text: &mut &str, _: &mut Step<'_>| {
    ///     text.parse::<u8>()?;
    ///     Ok(())
    /// })
    /// .throws("ParseIntError", |_: &std::num::ParseIntError| true);
    /// let reader = Machine::new("reader", ["read", "refused"], [refuse])?;
    /// let verdict = |text| Walker::new().run(reader.with(text), 7).verdict();
    /// assert!(verdict("300").passes());
    /// let finding = verdict("30").finding().cloned().expect("it is a number");
    /// assert_eq!(finding.summary, "reader: read -> refused: there is no ParseIntError");
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn throws<E: Error + 'static>(mut self, name: &str, is_it: impl Fn(&E) -> bool + 'static) -> Self {
        self.throws = Some(Expected::new(name, None, is_it));
        self
    }

    /// Leads to another state if a condition holds of the model after the action; the first one that holds counts.
    ///
    /// ```
    /// use simutant_models::{End, Machine, Step, Walker, transition};
    ///
    /// let count = transition("counting -> counting", async |count: &mut u32, _: &mut Step<'_>| {
    ///     *count += 1;
    ///     Ok(())
    /// })
    /// .next_if("full", |count| *count == 3);
    /// let counter = Machine::new("counter", ["counting", "full"], [count])?;
    /// let path = Walker::new().run(counter.with(0), 7);
    /// assert_eq!((path.taken.len(), path.end), (3, End::Finished));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn next_if(mut self, target: &str, condition: impl Fn(&M) -> bool + 'static) -> Self {
        self.next_if.push(NextIf { target: target.into(), condition: Rc::new(condition) });
        self
    }
}

impl Expected {
    fn new<E: Error + 'static>(name: &str, target: Option<&str>, is_it: impl Fn(&E) -> bool + 'static) -> Self {
        let is_it = move |exception: &Exception| exception.error::<E>().is_some_and(&is_it);
        Self { name: name.into(), target: target.map(Into::into), is_it: Rc::new(is_it) }
    }
}
