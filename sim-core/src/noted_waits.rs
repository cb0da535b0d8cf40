//! Waits outside of the kernel: for an item of a fifo, for a child task. They are noted, so that a report can
//! name them.
//!
//! The notes belong to the thread, since a fifo knows of no run. One is made when a task begins to wait, and is gone
//! when the task is woken or gives up; its place is used again, so that a wait costs no allocation.
//!
//! A task may also go on without a word, as one does that asked for `&mut child` in a `select` which something else
//! ended: its waker stays where it is, but it does not wait any more. So the polls of each task are counted, as long as
//! there are notes, and a note holds if its task asked again at its last poll, and not in a `select` that was over
//! then. Who stands between a task and a future, and has a waker of its own, need not ask again: its notes hold until
//! they are gone.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Waker;

use slab::Slab;

use crate::VirtualTime;
use crate::ended::{Wait, WaitSubject};
use crate::message::ComponentId;
use crate::waker::TaskKey;

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NotedSubject {
    FifoItem,
    ChildTask,
}

/// A waker that waits somewhere outside the kernel.
#[derive(Debug)]
pub(crate) struct NotedWaker {
    waker: Waker,
    /// `None` if nobody waits any more, or if no task of a run ever did.
    note: Option<NoteHandle>,
}

/// The place of a note, which is free again when this is dropped.
#[derive(Debug)]
struct NoteHandle(usize);

#[derive(Debug)]
struct Note {
    task_key: TaskKey,
    subject: NotedSubject,
    since: VirtualTime,
    asked: Asked,
}

/// Who asked last for what is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The task itself, at the poll of it that has this number.
    AtPoll(u64),
    /// Someone between the task and the future.
    Between,
    /// The task itself at that poll, but in a `select` that was over then.
    Withdrawn(u64),
}

/// No task.
const NOBODY: TaskKey = TaskKey::from_bits(u64::MAX);

/// What notes need to know of a run.
struct NotedRun {
    clock: Rc<dyn VirtualClock>,
    /// By index of a task: how often tasks there were polled while there were notes.
    polls: Vec<u64>,
    /// The places of the notes for which this poll has asked, in that order.
    asked: Vec<usize>,
}

/// Tells the virtual time.
pub(crate) trait VirtualClock {
    /// Returns the virtual time.
    fn now(&self) -> VirtualTime;
}

thread_local! {
    /// The task that is polled, or was polled last; or [`NOBODY`].
    static POLLED: Cell<TaskKey> = const { Cell::new(NOBODY) };
    /// Whether there are notes, or this poll has asked for some: all that a poll looks at as long as there are none.
    static IS_COUNTING: Cell<bool> = const { Cell::new(false) };
    /// How many notes there are.
    static NOTES_LEN: Cell<usize> = const { Cell::new(0) };
    /// For how many notes this poll has asked.
    static ASKED_LEN: Cell<usize> = const { Cell::new(0) };
    static NOTES: RefCell<Slab<Note>> = const { RefCell::new(Slab::new()) };
    /// The innermost run.
    static RUN: RefCell<Option<NotedRun>> = const { RefCell::new(None) };
}

/// Notes that a task is polled now.
#[inline(always)]
pub(crate) fn begin_poll(task_key: TaskKey) {
    POLLED.set(task_key);
    if IS_COUNTING.get() {
        count_poll(task_key);
    }
}

fn set_notes_len(len: usize) {
    NOTES_LEN.set(len);
    IS_COUNTING.set(len | ASKED_LEN.get() > 0);
}

fn set_asked_len(len: usize) {
    ASKED_LEN.set(len);
    IS_COUNTING.set(len | NOTES_LEN.get() > 0);
}

#[inline(never)]
fn count_poll(task_key: TaskKey) {
    RUN.with_borrow_mut(|run| {
        let Some(NotedRun { polls, asked, .. }) = run else { return };
        asked.clear();
        set_asked_len(0);
        if polls.len() <= task_key.index() {
            polls.resize(task_key.index() + 1, 0);
        }
        polls[task_key.index()] += 1;
    });
}

/// Returns for how many notes this poll has asked so far.
#[inline]
pub(crate) fn asked_len() -> usize {
    ASKED_LEN.get()
}

/// Lets those notes hold no more for which this poll asked later than when [`asked_len`] was `kept`.
#[inline]
pub(crate) fn withdraw_after(kept: usize) {
    if ASKED_LEN.get() > kept {
        withdraw(kept);
    }
}

#[inline(never)]
fn withdraw(kept: usize) {
    RUN.with_borrow_mut(|run| {
        let Some(NotedRun { asked, .. }) = run else { return };
        NOTES.with_borrow_mut(|notes| {
            for place in asked.drain(kept..) {
                if let Some(Note { asked, .. }) = notes.get_mut(place)
                    && let Asked::AtPoll(poll) = *asked
                {
                    *asked = Asked::Withdrawn(poll);
                }
            }
        });
        set_asked_len(kept);
    });
}

impl NotedRun {
    fn polls_of(&self, task_key: TaskKey) -> u64 {
        self.polls.get(task_key.index()).copied().unwrap_or(0)
    }
}

impl NotedWaker {
    /// Puts a waker to where waits for `subject` are, and returns the one that was there, for the caller to drop. Who
    /// waited there already waits on.
    #[must_use = "a waker is dropped after the borrow"]
    pub(crate) fn put(slot: &mut Option<Self>, waker: Waker, subject: NotedSubject) -> Option<Waker> {
        match slot {
            Some(noted) => {
                noted.note = ask(noted.note.take(), &waker, subject);
                Some(std::mem::replace(&mut noted.waker, waker))
            }
            None => {
                let note = ask(None, &waker, subject);
                *slot = Some(Self { waker, note });
                None
            }
        }
    }

    /// Ends the wait.
    pub(crate) fn wake(self) {
        drop(self.note);
        self.waker.wake();
    }

    /// Forgets that someone waits, and still wakes.
    pub(crate) fn forget(&mut self) {
        self.note = None;
    }
}

/// Returns the note of the task that asks now, which may have asked before.
fn ask(earlier: Option<NoteHandle>, waker: &Waker, subject: NotedSubject) -> Option<NoteHandle> {
    RUN.with_borrow_mut(|run| {
        // Who polls a future outside of all runs is in no report.
        let run = run.as_mut()?;
        let own = TaskKey::of(waker);
        let task_key = own.unwrap_or(POLLED.get());
        if task_key == NOBODY {
            return None;
        }
        let asked = own.map_or(Asked::Between, |own| Asked::AtPoll(run.polls_of(own)));
        let handle = NOTES.with_borrow_mut(|notes| {
            let mut since = run.clock.now();
            if let Some(handle) = earlier {
                let note = &mut notes[handle.0];
                let polls = run.polls_of(task_key);
                let goes_on = match note.asked {
                    Asked::AtPoll(poll) => poll + 1 >= polls,
                    Asked::Withdrawn(poll) => poll == polls,
                    Asked::Between => true,
                };
                // Another task than before, or one that has done other things meanwhile, only begins to wait.
                if goes_on && note.task_key == task_key {
                    since = note.since;
                }
                *note = Note { task_key, subject, since, asked };
                return handle;
            }
            let handle = NoteHandle(notes.insert(Note { task_key, subject, since, asked }));
            set_notes_len(notes.len());
            handle
        });
        if own.is_some() {
            run.asked.push(handle.0);
            set_asked_len(run.asked.len());
        }
        Some(handle)
    })
}

impl Drop for NoteHandle {
    fn drop(&mut self) {
        // What a thread that ends drops may find no notes any more.
        let _ = NOTES.try_with(|notes| {
            let mut notes = notes.borrow_mut();
            notes.remove(self.0);
            set_notes_len(notes.len());
        });
    }
}

/// A run whose tasks may wait. While it lasts, the run around it, if it is inside a component of another, stands still.
pub(crate) struct NotedWaits {
    outer: Option<NotedRun>,
    outer_polled: TaskKey,
}

impl NotedWaits {
    pub(crate) fn enter(clock: Rc<dyn VirtualClock>) -> Self {
        set_asked_len(0);
        let outer = RUN.replace(Some(NotedRun { clock, polls: Vec::new(), asked: Vec::new() }));
        Self { outer, outer_polled: POLLED.replace(NOBODY) }
    }
}

impl Drop for NotedWaits {
    fn drop(&mut self) {
        set_asked_len(self.outer.as_ref().map_or(0, |outer| outer.asked.len()));
        let _inner = RUN.replace(self.outer.take());
        POLLED.set(self.outer_polled);
    }
}

/// Returns the waits of the tasks of a run, by component: first those that began first. `component_of` returns `None`
/// for tasks of other runs.
pub(crate) fn noted_waits(component_of: impl Fn(TaskKey) -> Option<ComponentId>) -> BTreeMap<ComponentId, Vec<Wait>> {
    let mut found = RUN.with_borrow(|run| {
        NOTES.with_borrow(|notes| {
            let holds = |note: &&Note| match note.asked {
                Asked::AtPoll(poll) => run.as_ref().is_some_and(|run| run.polls_of(note.task_key) == poll),
                Asked::Between => true,
                Asked::Withdrawn(_) => false,
            };
            let notes = notes.iter().map(|(_, note)| note).filter(holds);
            let found = notes.filter_map(|note| Some((component_of(note.task_key)?, note.since, note.subject)));
            found.collect::<Vec<_>>()
        })
    });
    // The places of notes depend on the runs before this one.
    found.sort_unstable();
    let mut waits = BTreeMap::<ComponentId, Vec<Wait>>::new();
    for (component, since, subject) in found {
        let subject = match subject {
            NotedSubject::FifoItem => WaitSubject::FifoItem,
            NotedSubject::ChildTask => WaitSubject::ChildTask,
        };
        waits.entry(component).or_default().push(Wait { subject, since });
    }
    waits
}
