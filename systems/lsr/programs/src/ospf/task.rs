//! A test case, as a command line tells it.

use std::str::FromStr;
use std::time::Duration;

/// A test case of link-state routing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// All routers.
    pub routers: Vec<Router>,
    /// All links.
    pub links: Vec<Link>,
    /// All messages, in the order in which they are published.
    pub messages: Vec<Message>,
}

/// A router: `2@13.021`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Router {
    /// Its number.
    pub number: u8,
    /// How long after the first moment it starts; milliseconds in the text.
    pub start: Duration,
}

/// A link: `1-2/3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    /// The routers at its ends.
    pub ends: [u8; 2],
    /// What a message through it costs, either way.
    pub cost: u16,
}

/// A message: `1:2-3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Its number.
    pub number: u32,
    /// The router that it is given to.
    pub source: u8,
    /// The router that it is for.
    pub destination: u8,
}

impl Task {
    /// Returns the neighbours of a router, with the costs of the links to them.
    pub fn neighbours(&self, router: u8) -> impl Iterator<Item = (u8, u16)> {
        self.links.iter().filter_map(move |&Link { ends: [one, other], cost }| match router {
            _ if router == one => Some((other, cost)),
            _ if router == other => Some((one, cost)),
            _ => None,
        })
    }
}

/// Items with commas between them; there may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

/// A text is not what it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskError;

impl<T: FromStr> FromStr for List<T> {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        let items = text.split(',').filter(|item| !item.is_empty()).map(|item| item.parse().map_err(|_| TaskError));
        items.collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Router {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        let (number, start) = text.split_once('@').ok_or(TaskError)?;
        let start_ms: f64 = parse(start)?;
        let start = Duration::try_from_secs_f64(start_ms / 1_000.0).map_err(|_| TaskError)?;
        Ok(Self { number: parse(number)?, start })
    }
}

impl FromStr for Link {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        let (ends, cost) = text.split_once('/').ok_or(TaskError)?;
        let (one, other) = ends.split_once('-').ok_or(TaskError)?;
        Ok(Self { ends: [parse(one)?, parse(other)?], cost: parse(cost)? })
    }
}

impl FromStr for Message {
    type Err = TaskError;

    fn from_str(text: &str) -> Result<Self, TaskError> {
        let (number, pair) = text.split_once(':').ok_or(TaskError)?;
        let (source, destination) = pair.split_once('-').ok_or(TaskError)?;
        Ok(Self { number: parse(number)?, source: parse(source)?, destination: parse(destination)? })
    }
}

fn parse<T: FromStr>(text: &str) -> Result<T, TaskError> {
    text.parse().map_err(|_| TaskError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let List(routers) = "1@0.000,2@13.021".parse::<List<Router>>().expect("a list");
        assert_eq!(routers[1], Router { number: 2, start: Duration::from_micros(13_021) });
        let List(links) = "1-2/3,2-3/65535".parse().expect("a list");
        assert_eq!(links[1], Link { ends: [2, 3], cost: 65_535 });
        let List(messages) = "1:1-3,2:2-2".parse().expect("a list");
        assert_eq!(messages[1], Message { number: 2, source: 2, destination: 2 });
        assert_eq!("".parse(), Ok(List::<Message>(Vec::new())));
        let task = Task { routers, links, messages };
        assert_eq!(task.neighbours(2).collect::<Vec<_>>(), [(1, 3), (3, 65_535)]);
    }

    #[test]
    fn what_is_no_item_is_refused() {
        for text in ["1", "1@", "1@-3", "x@1", "1@NaN"] {
            assert_eq!(text.parse::<List<Router>>(), Err(TaskError), "{text}");
        }
        for text in ["1-2", "1/2", "1-2/65536", "1-2/-1"] {
            assert_eq!(text.parse::<List<Link>>(), Err(TaskError), "{text}");
        }
        for text in ["1-2", "1:2", "1:2-", "1:2-3-4"] {
            assert_eq!(text.parse::<List<Message>>(), Err(TaskError), "{text}");
        }
    }
}
