//! The tests. They are ordinary functions that panic, so that they can also be called without cargo's harness.

mod checksums;
mod elections;
mod events;
mod leases;
mod transfers;

/// Makes a list of functions with their names, and a test of each.
macro_rules! cases {
    ($($module:ident: $($name:ident)*;)*) => {
        /// All tests: their names, and what to call. They are functions of nothing.
        pub const CASES: [(&str, fn()); [$($(stringify!($name)),*),*].len()] =
            [$($((stringify!($name), $module::$name as fn())),*),*];

        /// Cargo's tests.
        #[cfg(test)]
        mod test {
            $($(#[test]
            fn $name() {
                super::$module::$name();
            })*)*
        }
    };
}

cases! {
    events:
        events_come_in_the_order_of_their_times
        equal_times_come_in_the_order_of_scheduling
        delays_count_from_the_event_that_came_last
        a_cancelled_event_does_not_come
        the_order_holds_after_every_cancellation
        an_event_that_came_cannot_be_cancelled;
    checksums:
        the_checksum_has_the_published_check_value
        what_was_sealed_opens
        a_damaged_bit_is_found
        what_is_too_short_does_not_open
        a_seed_fixes_the_random_numbers
        chances_are_percentages;
    transfers:
        a_perfect_channel_needs_each_frame_once
        a_larger_window_is_faster
        nothing_is_transferred_at_once
        a_lossy_channel_delivers_all
        a_channel_that_damages_delivers_all
        frames_that_overtake_each_other_are_sent_again
        an_early_timeout_sends_twice;
    elections:
        the_greatest_number_wins
        several_may_begin
        the_worst_order_takes_a_square_of_messages
        the_successor_is_the_next_that_lives
        the_crashed_are_passed_over;
    leases:
        a_lease_ends
        what_is_taken_is_refused_until_it_is_free
        no_holder_has_too_many
        a_renewed_lease_lasts_longer
        what_was_released_is_free
        old_leases_are_forgotten;
}
