//! The garage door.

use std::time::Duration;

use simutant_models::{Limits, Walker};
use simutant_subjects::garage_door;

use crate::{first_failure, summary};

#[test]
fn a_slow_door_is_found_by_two_transitions() {
    let mut walker = Walker::new().with_limits(Limits { transitions: 40, ..Limits::default() });
    assert_eq!(first_failure(&mut walker, || garage_door::instance(Duration::from_secs(16)), 100), None);
    assert_eq!(walker.coverage().transitions(), (6, 6));
    let slow = || garage_door::instance(Duration::from_secs(17));
    let path = first_failure(&mut walker, slow, 100).expect("it is slow");
    assert_eq!(summary(&path), "garage door: opening -> up: the door is at its end, and the motor is off");
    assert_eq!(path.taken.len(), 2);
}
