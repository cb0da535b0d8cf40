//! Who decides what the streams of a thread draw, in place of their seeds.

use std::cell::Cell;
use std::marker::PhantomData;

use crate::Draw;

/// Decides what is drawn. It is a value without state of its own: what it needs it keeps with the thread.
pub trait Interceptor {
    /// Returns the bits for a draw of the stream that began with `seed`, whose generator gave `drawn`.
    fn bits(&self, seed: u64, draw: Draw, drawn: u64) -> u64;

    /// Sees that the stream of `parent` was asked for its child `name`, which begins with `seed`.
    fn child_stream(&self, parent: u64, seed: u64, name: &str) {
        let _ = (parent, seed, name);
    }
}

thread_local! {
    /// Whether there is an interceptor: all that a draw looks at if there is none.
    static IS_INTERCEPTED: Cell<bool> = const { Cell::new(false) };
    static CURRENT: Cell<Option<&'static dyn Interceptor>> = const { Cell::new(None) };
}

/// Returns whether an interceptor decides the draws of this thread.
#[inline]
pub fn is_intercepted() -> bool {
    IS_INTERCEPTED.get()
}

/// Returns the bits for a draw of the stream that began with `seed`: those of the interceptor, if there is one.
#[cold]
pub(crate) fn bits(seed: u64, draw: Draw, drawn: u64) -> u64 {
    CURRENT.get().map_or(drawn, |interceptor| interceptor.bits(seed, draw, drawn))
}

/// Lets the interceptor, if there is one, see that a stream was asked for a child.
#[cold]
pub(crate) fn child_stream(parent: u64, seed: u64, name: &str) {
    if let Some(interceptor) = CURRENT.get() {
        interceptor.child_stream(parent, seed, name);
    }
}

fn replace(interceptor: Option<&'static dyn Interceptor>) -> Option<&'static dyn Interceptor> {
    IS_INTERCEPTED.set(interceptor.is_some());
    CURRENT.replace(interceptor)
}

/// The time for which an interceptor decides: until this is dropped, when the one before it does again.
#[must_use]
pub struct Interception {
    outer: Option<&'static dyn Interceptor>,
    /// The interceptor belongs to the thread, so this stays there.
    thread: PhantomData<*const ()>,
}

impl Interception {
    /// Makes `interceptor` decide the draws of this thread; with `None` the seeds do.
    pub fn begin(interceptor: Option<&'static dyn Interceptor>) -> Self {
        Self { outer: replace(interceptor), thread: PhantomData }
    }
}

impl Drop for Interception {
    fn drop(&mut self) {
        replace(self.outer);
    }
}

impl std::fmt::Debug for Interception {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Interception").field("has_outer", &self.outer.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// Draws the same bits always.
    struct Constant(u64);

    impl Interceptor for Constant {
        fn bits(&self, _: u64, _: Draw, _: u64) -> u64 {
            self.0
        }
    }

    #[test]
    fn the_innermost_decides_and_the_one_before_goes_on() {
        let mut random = Random::from_seed(1);
        let seeded = random.clone().bits();
        let outer = Interception::begin(Some(&Constant(7)));
        assert_eq!(random.clone().bits(), 7);
        {
            let _inner = Interception::begin(Some(&Constant(8)));
            assert_eq!(random.clone().bits(), 8);
            let _nobody = Interception::begin(None);
            assert_eq!(random.clone().bits(), seeded);
        }
        assert_eq!(random.clone().bits(), 7);
        drop(outer);
        assert!(!is_intercepted());
        assert_eq!(random.bits(), seeded);
    }

    #[test]
    fn an_intercepted_draw_moves_the_generator_too() {
        let (mut intercepted, mut plain) = (Random::from_seed(1), Random::from_seed(1));
        {
            let _interception = Interception::begin(Some(&Constant(0)));
            intercepted.unit();
        }
        plain.unit();
        assert_eq!(intercepted, plain);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "that threads do not share interceptors takes another thread")]
    fn other_threads_draw_from_their_seeds() {
        let _interception = Interception::begin(Some(&Constant(7)));
        let elsewhere = std::thread::spawn(|| Random::from_seed(1).bits()).join().expect("it draws");
        assert_ne!(elsewhere, 7);
    }
}
