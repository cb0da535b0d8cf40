//! Tests of leases.

use crate::lease::{Lease, LeaseTable, Refused};

/// Returns a table in which holder 1 has the even resources below 160, since time 100.
fn table() -> LeaseTable {
    let mut table = LeaseTable::new(10, 80);
    for resource in (0..160).step_by(2).rev() {
        assert_eq!(table.acquire(resource, 1, 100), Ok(1), "resource {resource} was free");
    }
    table
}

pub(super) fn a_lease_ends() {
    let table = table();
    for resource in 0..160 {
        let holder = (resource % 2 == 0).then_some(1);
        assert_eq!(table.holder(resource, 100), holder);
        assert_eq!(table.holder(resource, 109), holder, "a moment before it ends");
        assert_eq!(table.holder(resource, 110), None, "the moment at which it ends");
    }
    for (lease, resource) in table.leases().iter().zip((0..160).step_by(2)) {
        assert_eq!(*lease, Lease { resource, holder: 1, term: 1, expires_at: 110 });
    }
    assert_eq!((table.held(1, 109), table.held(1, 110), table.held(2, 109)), (80, 0, 0));
}

pub(super) fn what_is_taken_is_refused_until_it_is_free() {
    let mut table = table();
    for resource in (0..160).step_by(2) {
        assert_eq!(table.acquire(resource, 2, 109), Err(Refused::Taken { until: 110 }));
    }
    for resource in (0..160).step_by(2) {
        assert_eq!(table.acquire(resource, 2, 110), Ok(2), "it has changed hands");
        assert_eq!(table.holder(resource, 119), Some(2));
    }
}

pub(super) fn no_holder_has_too_many() {
    let mut table = table();
    assert_eq!(table.acquire(161, 1, 100), Err(Refused::TooMany));
    assert_eq!(table.acquire(0, 1, 100), Ok(1), "what it has it may have again");
    assert_eq!(table.acquire(161, 2, 100), Ok(1), "another may");
    assert_eq!(table.release(2, 1, 105), Ok(()));
    assert_eq!(table.acquire(163, 1, 105), Ok(1), "one was given back");
    assert_eq!(table.acquire(165, 1, 105), Err(Refused::TooMany));
    assert_eq!(table.held(1, 105), 80);
}

pub(super) fn a_renewed_lease_lasts_longer() {
    let mut table = table();
    assert_eq!(table.renew(8, 1, 105), Ok(115));
    assert_eq!(table.renew(8, 1, 103), Ok(115), "never shorter");
    assert_eq!(table.renew(8, 2, 105), Err(Refused::NotHeld));
    assert_eq!(table.renew(9, 1, 105), Err(Refused::NotHeld));
    assert_eq!(table.holder(8, 114), Some(1));
    assert_eq!(table.renew(6, 1, 110), Err(Refused::NotHeld), "it has ended");
    assert_eq!(table.acquire(8, 1, 112), Ok(1), "still the same term");
    assert_eq!(table.acquire(8, 1, 122), Ok(2), "it had ended");
}

pub(super) fn what_was_released_is_free() {
    let mut table = table();
    for resource in (0..160).step_by(4) {
        assert_eq!(table.release(resource, 2, 104), Err(Refused::NotHeld));
        assert_eq!(table.release(resource, 1, 104), Ok(()));
        assert_eq!(table.holder(resource, 104), None);
        assert_eq!(table.release(resource, 1, 104), Err(Refused::NotHeld), "only once");
        assert_eq!(table.acquire(resource, 2, 104), Ok(2));
    }
    assert_eq!((table.held(1, 104), table.held(2, 104)), (40, 40));
}

pub(super) fn old_leases_are_forgotten() {
    let mut table = table();
    assert_eq!(table.acquire(1, 2, 108), Ok(1));
    assert_eq!(table.forget(5, 114), 0);
    assert_eq!(table.forget(5, 115), 80, "those that ended at 110");
    assert_eq!(table.leases(), [Lease { resource: 1, holder: 2, term: 1, expires_at: 118 }]);
    assert_eq!(table.acquire(0, 3, 116), Ok(1), "the count of its terms is forgotten as well");
}
