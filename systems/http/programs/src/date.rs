//! Dates in fields (RFC 9110, section 5.6.7).

use std::time::{SystemTime, UNIX_EPOCH};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// From a Thursday on, as the days since 1970 are counted.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// Returns the seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// Returns seconds since 1970 as a field has them.
pub(crate) fn format(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years begin in March, so that a leap day ends one (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    let day = days + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year + era * 400 + i64::from(month < 2);
    let (name, month) = (DAYS[days.rem_euclid(7) as usize], MONTHS[month as usize]);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{name}, {of_month:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT")
}

/// Returns the seconds since 1970 of a date in the preferred format; `None` if it is none.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let [_, day, month, year, time, "GMT"] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
    let number = |text: &str| text.parse::<u32>().ok().map(i64::from);
    let [hour, minute, second] = time.split(':').map(number).collect::<Option<Vec<_>>>()?[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? as i64;
    let year = number(year).filter(|year| *year < 10_000)? - i64::from(month < 2);
    let of_year = (153 * ((month + 10) % 12) + 2) / 5 + number(day)? - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + of_year - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    // What is written otherwise, such as a day that there is not, is no date.
    (format(seconds) == text).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_they_are_written() {
        assert_eq!(format(784_111_777), "Sun, 06 Nov 1994 08:49:37 GMT");
        for day in 0..60_000 {
            let seconds = day * 86_400 + day % 86_400;
            assert_eq!(parse(&format(seconds)), Some(seconds), "{}", format(seconds));
        }
        for text in ["", "now", "Mon, 06 Nov 1994 08:49:37 GMT", "Wed, 30 Feb 1994 08:49:37 GMT"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
