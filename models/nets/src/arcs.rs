//! What a transition takes and puts, and the function that says what it does with that.

use std::fmt;
use std::marker::PhantomData;

use crate::Token;
use crate::multiset::{Overflow, Store, TooMany, add_to};

/// A place for tokens of one type. It is a handle: [`Net`](crate::Net) has the tokens.
pub struct Place<T> {
    pub(crate) net: u64,
    pub(crate) number: usize,
    pub(crate) tokens: PhantomData<fn() -> T>,
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Place<T> {}

impl<T> fmt::Debug for Place<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Place({})", self.number)
    }
}

impl<T: Token> Place<T> {
    /// A transition takes a token from the place.
    pub fn take(self) -> One<T> {
        One { place: self, stays: false }
    }

    /// A transition needs a token in the place, which stays there: a test arc. A token that another arc of the transition
    /// takes is not there for this one.
    pub fn keep(self) -> One<T> {
        One { place: self, stays: true }
    }

    /// A transition takes all tokens from the place, of which there may be none. What is not used is put back, if the
    /// function says so.
    pub fn take_all(self) -> TakeAll<T> {
        TakeAll(self)
    }

    /// A transition puts a token into the place.
    pub fn put(self) -> Put<T> {
        Put { place: self, times: 1 }
    }

    /// A transition puts any number of tokens into the place.
    pub fn put_all(self) -> PutAll<T> {
        PutAll { place: self, times: 1 }
    }
}

/// An arc that takes or needs a token: [`Place::take`], [`Place::keep`].
#[derive(Debug)]
pub struct One<T> {
    place: Place<T>,
    stays: bool,
}

/// An arc that takes all tokens: [`Place::take_all`].
#[derive(Debug)]
pub struct TakeAll<T>(Place<T>);

/// A value that comes from no place: [`any`].
#[derive(Debug, Clone)]
pub struct Any<T>(Vec<T>);

/// An arc that puts a token: [`Place::put`].
#[derive(Debug)]
pub struct Put<T> {
    place: Place<T>,
    times: u32,
}

/// An arc that puts any number of tokens: [`Place::put_all`].
#[derive(Debug)]
pub struct PutAll<T> {
    place: Place<T>,
    times: u32,
}

impl<T> Put<T> {
    /// The token is put so many times as often.
    ///
    /// ```
    /// use simutant_nets::{Budget, Net};
    ///
    /// let mut net = Net::new("cell");
    /// let (whole, halves) = (net.place("whole", ["cell"]), net.place::<&str>("halves", []));
    /// net.transition("divide", whole.take(), |_| Some("half"), halves.put().times(2));
    /// assert_eq!(net.explore(&Budget::default())?.bounds(halves), (0, 2));
    /// # Ok::<(), simutant_nets::ExploreError>(())
    /// ```
    pub fn times(self, times: u32) -> Self {
        Self { times: self.times.saturating_mul(times), ..self }
    }
}

impl<T> PutAll<T> {
    /// Each of the tokens is put so many times as often.
    pub fn times(self, times: u32) -> Self {
        Self { times: self.times.saturating_mul(times), ..self }
    }
}

/// A free value: the transition may fire with each of these.
///
/// ```
/// use simutant_nets::{Budget, Net, any};
///
/// let mut net = Net::new("coin");
/// let ready = net.place("ready", [()]);
/// let shown = net.place::<&str>("shown", []);
/// net.transition("toss", (ready.take(), any(["heads", "tails"])), |(), side| Some(side), shown.put());
/// let space = net.explore(&Budget::default())?;
/// assert_eq!((space.graph().markings(), space.graph().dead().len()), (3, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn any<T: Token>(values: impl IntoIterator<Item = T>) -> Any<T> {
    Any(values.into_iter().collect())
}

/// The origin of the value that an input binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A token of a place, which goes.
    Taken(usize),
    /// A token of a place, which stays.
    Kept(usize),
    /// All tokens of a place, which go.
    Emptied(usize),
    /// One of so many values.
    Free(usize),
}

impl Source {
    pub(crate) const fn place(self) -> Option<usize> {
        match self {
            Self::Taken(place) | Self::Kept(place) | Self::Emptied(place) => Some(place),
            Self::Free(_) => None,
        }
    }

    pub(crate) const fn needs_token(self) -> bool {
        matches!(self, Self::Taken(_) | Self::Kept(_))
    }
}

/// One of the inputs of a transition: [`Place::take`], [`Place::keep`], [`Place::take_all`] and [`any`] make them.
pub trait Input: 'static {
    /// The type of what it binds.
    type Value;

    /// Returns what it binds a value to, and of which net.
    #[doc(hidden)]
    fn source(&self) -> (Source, Option<u64>);

    /// Returns the values in words, if they come from no place.
    #[doc(hidden)]
    fn words(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the value of a number.
    #[doc(hidden)]
    fn value(&self, number: u32, places: &[Store]) -> Self::Value;
}

impl<T: Token> Input for One<T> {
    type Value = T;

    fn source(&self) -> (Source, Option<u64>) {
        let One { place: Place { number, net, .. }, stays } = *self;
        (if stays { Source::Kept(number) } else { Source::Taken(number) }, Some(net))
    }

    fn value(&self, number: u32, places: &[Store]) -> T {
        places[self.place.number].token::<T>(number).clone()
    }
}

impl<T: Token> Input for TakeAll<T> {
    type Value = Vec<T>;

    fn source(&self) -> (Source, Option<u64>) {
        (Source::Emptied(self.0.number), Some(self.0.net))
    }

    /// The number is that of the multiset.
    fn value(&self, number: u32, places: &[Store]) -> Vec<T> {
        let store = &places[self.0.number];
        let mut tokens = Vec::new();
        for &(token, count) in store.multisets().get(number) {
            tokens.extend(std::iter::repeat_n(store.token::<T>(token), count as usize).cloned());
        }
        tokens
    }
}

impl<T: Token> Input for Any<T> {
    type Value = T;

    fn source(&self) -> (Source, Option<u64>) {
        (Source::Free(self.0.len()), None)
    }

    fn words(&self) -> Vec<String> {
        self.0.iter().map(|value| format!("{value:?}")).collect()
    }

    fn value(&self, number: u32, _places: &[Store]) -> T {
        self.0[number as usize].clone()
    }
}

/// The tokens that a transition puts: their places, their numbers, and how often.
pub(crate) type Produced = Vec<(usize, Vec<(u32, u32)>)>;

/// One of the outputs of a transition: [`Place::put`] and [`Place::put_all`] make them.
pub trait Output: 'static {
    /// The type of what is put.
    type Value;

    /// Returns the place, and of which net.
    #[doc(hidden)]
    fn target(&self) -> (usize, u64);

    /// Numbers what is put.
    #[doc(hidden)]
    fn put(&self, value: Self::Value, places: &mut [Store]) -> Result<Vec<(u32, u32)>, Overflow>;
}

impl<T: Token> Output for Put<T> {
    type Value = T;

    fn target(&self) -> (usize, u64) {
        (self.place.number, self.place.net)
    }

    fn put(&self, value: T, places: &mut [Store]) -> Result<Vec<(u32, u32)>, Overflow> {
        let place = self.place.number;
        let number = places[place].number(value).map_err(|TooMany| Overflow { place })?;
        Ok(if self.times == 0 { Vec::new() } else { vec![(number, self.times)] })
    }
}

impl<T: Token> Output for PutAll<T> {
    type Value = Vec<T>;

    fn target(&self) -> (usize, u64) {
        (self.place.number, self.place.net)
    }

    fn put(&self, value: Vec<T>, places: &mut [Store]) -> Result<Vec<(u32, u32)>, Overflow> {
        let place = self.place.number;
        let mut tokens = Vec::new();
        for token in value.into_iter().filter(|_| self.times > 0) {
            let added = places[place].number(token).and_then(|number| add_to(&mut tokens, number, self.times));
            added.map_err(|TooMany| Overflow { place })?;
        }
        Ok(tokens)
    }
}

/// The inputs of a transition: one [`Input`], or a tuple of them.
pub trait Inputs: 'static {
    /// The tuple of the values that they bind.
    type Values;

    /// Returns what each binds a value to.
    #[doc(hidden)]
    fn sources(&self) -> Vec<(Source, Option<u64>)>;

    /// Returns the values in words of those that come from no place.
    #[doc(hidden)]
    fn words(&self) -> Vec<Vec<String>>;

    /// Returns the values of numbers.
    #[doc(hidden)]
    fn values(&self, numbers: &[u32], places: &[Store]) -> Self::Values;
}

/// The outputs of a transition: one [`Output`], or a tuple of them.
pub trait Outputs: 'static {
    /// The value of the one output, or the tuple of those of all.
    type Values;

    /// Returns the place of each.
    #[doc(hidden)]
    fn targets(&self) -> Vec<(usize, u64)>;

    /// Numbers what is put.
    #[doc(hidden)]
    fn put(&self, values: Self::Values, places: &mut [Store]) -> Result<Produced, Overflow>;
}

/// The body of a transition: a function of what its inputs bind, which says what its outputs put, or `None` where the
/// transition is not enabled. It must return the same each time.
pub trait Body<Given, Made>: 'static {
    /// Calls the function.
    #[doc(hidden)]
    fn call(&self, given: Given) -> Option<Made>;
}

macro_rules! single {
    ($($input:ident)*) => {$(
        impl<T: Token> Inputs for $input<T> {
            type Values = (<Self as Input>::Value,);

            fn sources(&self) -> Vec<(Source, Option<u64>)> {
                vec![self.source()]
            }

            fn words(&self) -> Vec<Vec<String>> {
                vec![Input::words(self)]
            }

            fn values(&self, numbers: &[u32], places: &[Store]) -> Self::Values {
                (self.value(numbers[0], places),)
            }
        }
    )*};
}

single!(One TakeAll Any);

macro_rules! single_output {
    ($($output:ident)*) => {$(
        impl<T: Token> Outputs for $output<T> {
            type Values = <Self as Output>::Value;

            fn targets(&self) -> Vec<(usize, u64)> {
                vec![self.target()]
            }

            fn put(&self, values: Self::Values, places: &mut [Store]) -> Result<Produced, Overflow> {
                Ok(vec![(self.target().0, Output::put(self, values, places)?)])
            }
        }
    )*};
}

single_output!(Put PutAll);

macro_rules! tuples {
    ($($name:ident $number:tt),*) => {
        impl<$($name: Input),*> Inputs for ($($name,)*) {
            type Values = ($($name::Value,)*);

            fn sources(&self) -> Vec<(Source, Option<u64>)> {
                vec![$(self.$number.source()),*]
            }

            fn words(&self) -> Vec<Vec<String>> {
                vec![$(self.$number.words()),*]
            }

            fn values(&self, numbers: &[u32], places: &[Store]) -> Self::Values {
                ($(self.$number.value(numbers[$number], places),)*)
            }
        }

        impl<$($name: Output),*> Outputs for ($($name,)*) {
            type Values = ($($name::Value,)*);

            fn targets(&self) -> Vec<(usize, u64)> {
                vec![$(self.$number.target()),*]
            }

            fn put(&self, values: Self::Values, places: &mut [Store]) -> Result<Produced, Overflow> {
                Ok(vec![$((self.$number.target().0, self.$number.put(values.$number, places)?)),*])
            }
        }

        impl<Function, Made, $($name),*> Body<($($name,)*), Made> for Function
        where
            Function: Fn($($name),*) -> Option<Made> + 'static,
        {
            fn call(&self, given: ($($name,)*)) -> Option<Made> {
                self($(given.$number),*)
            }
        }
    };
}

/// A transition that puts nothing.
impl Outputs for () {
    type Values = ();

    fn targets(&self) -> Vec<(usize, u64)> {
        Vec::new()
    }

    fn put(&self, (): (), _places: &mut [Store]) -> Result<Produced, Overflow> {
        Ok(Vec::new())
    }
}

tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
tuples!(A 0, B 1, C 2, D 3, E 4);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuples!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
