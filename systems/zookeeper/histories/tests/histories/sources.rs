//! The examples of the papers that the checks come from: Banzai (2018), tables 3.1, 3.3, 3.4 and 3.5, and Artho et al.
//! (2017), figure 7.

use simutant_oracle::{
    Answer, Call, Check, Checked, Compared, End, Filter, History, Mode, Moment, Open, Order, Scope, Session,
    Specification, Strategy, Time,
};
use simutant_zookeeper_histories::{CreateMode, Error, Operation, Response, ZooKeeper};

type Asked = (u64, Mode, Operation);

const FILTERS: [Filter; 3] = [Filter::None, Filter::Reads, Filter::Unrelated];

const SYNC: Mode = Mode::Synchronous;
const ASYNC: Mode = Mode::Asynchronous;

fn create(path: &str) -> Operation {
    Operation::Create { path: path.into(), data: None, mode: CreateMode::Persistent }
}

fn delete(path: &str) -> Operation {
    Operation::Delete { path: path.into(), version: None }
}

fn exists(path: &str) -> Operation {
    Operation::Exists { path: path.into() }
}

/// Returns the history of calls that are made one after the other, and are all answered at the end.
fn history(asked: &[Asked], answers: &[Option<Response>]) -> History<Operation, Response> {
    let at = |time: usize| Moment { time: Time::from_nanos(time as u64), event: None };
    let call = |(number, ((session, mode, operation), answer)): (usize, (&Asked, &Option<Response>))| {
        let end = match answer {
            Some(response) => End::Returned { at: at(100 + number), response: response.clone() },
            None => End::Unknown,
        };
        Call { mode: *mode, ..Call::new(Session(*session), operation.clone(), at(number), end) }
    };
    let calls = asked.iter().zip(answers).enumerate().map(call);
    History::from_calls(calls.collect()).expect("all end later")
}

fn is_possible(asked: &[Asked], answers: &[Option<Response>]) -> bool {
    let check = Check { order: Order::ordered_sequential(), ..Check::default() };
    let checked = check.run(&history(asked, answers), &ZooKeeper::default());
    assert!(!matches!(checked.answer, Answer::Undecided { .. }));
    checked.is_possible()
}

/// Returns the orders in which a service may take the calls, each with the answers that they then have.
fn executions(asked: &[Asked]) -> Vec<(Vec<usize>, Vec<Option<Response>>)> {
    permutations(asked.len())
        .into_iter()
        .filter_map(|order| {
            let mut tree = ZooKeeper::default();
            let mut answers = vec![None; asked.len()];
            for &number in &order {
                let (session, _, operation) = &asked[number];
                answers[number] = Some(tree.step(Session(*session), operation, &mut Open::first()));
            }
            let pairs = order.windows(2).map(|pair| (pair[0], pair[1])).collect();
            let check = Check { order: Order { pairs, ..Order::ordered_sequential() }, ..Check::default() };
            let checked = check.run(&history(asked, &answers), &ZooKeeper::default());
            checked.is_possible().then_some((order, answers))
        })
        .collect()
}

fn permutations(length: usize) -> Vec<Vec<usize>> {
    let Some(last) = length.checked_sub(1) else { return vec![Vec::new()] };
    let insert = |shorter: Vec<usize>| {
        (0..=shorter.len()).map(move |place| {
            let mut longer = shorter.clone();
            longer.insert(place, last);
            longer
        })
    };
    permutations(last).into_iter().flat_map(insert).collect()
}

fn table_3_1() -> [Asked; 4] {
    [(1, SYNC, create("/a")), (2, ASYNC, exists("/a")), (1, ASYNC, delete("/a")), (2, SYNC, delete("/a"))]
}

#[test]
fn table_3_1_has_five_execution_orders() {
    let mut orders: Vec<Vec<usize>> = executions(&table_3_1()).into_iter().map(|(order, _)| order).collect();
    orders.sort();
    let expect = [[0, 1, 2, 3], [0, 1, 3, 2], [0, 2, 1, 3], [1, 0, 2, 3], [1, 0, 3, 2]];
    assert_eq!(orders, expect);
}

#[test]
fn the_answers_to_table_3_1_are_judged_as_in_section_3_1_3() {
    let exists = Some(Response::Error(Error::NodeExists));
    assert!(!is_possible(&table_3_1(), &[exists, None, None, None]));
    assert!(is_possible(&table_3_1(), &[None, None, None, Some(Response::Done)]));
    // Section 3.3: /a is there between the creation and a deletion.
    assert!(is_possible(&table_3_1(), &[None, Some(Response::Exists(true)), None, None]));
}

#[test]
fn a_deletion_depends_on_a_creation_below_in_table_3_4() {
    let asked = [
        (1, SYNC, create("/a")),
        (2, ASYNC, create("/a/c")),
        (3, SYNC, delete("/a")),
        (1, SYNC, create("/a/b")),
        (2, ASYNC, exists("/a")),
        (3, ASYNC, create("/c")),
    ];
    let created_below = |answers: &[Option<Response>]| matches!(answers[3], Some(Response::Created(_)));
    let deleted = |answers: &[Option<Response>]| answers[2] == Some(Response::Done);
    let executions = executions(&asked);
    assert!(executions.iter().any(|(_, answers)| deleted(answers)));
    assert!(executions.iter().any(|(_, answers)| !deleted(answers)));
    for (_, answers) in &executions {
        // The one fails where the other one does not.
        assert_ne!(deleted(answers), created_below(answers));
        for filter in FILTERS {
            for compared in [Compared::Target, Compared::All] {
                assert!(check_each(&asked, answers, compared, filter).is_possible());
            }
        }
    }
}

/// Checks each call by itself, and takes all of the steps that there are.
fn check_each(asked: &[Asked], answers: &[Option<Response>], compared: Compared, filter: Filter) -> Checked {
    let scope = Scope::EachCall { compared, filter };
    let strategy = Strategy::BreadthFirst;
    let check = Check { order: Order::ordered_sequential(), scope, strategy, ..Check::default() };
    check.run(&history(asked, answers), &ZooKeeper::default())
}

/// Returns whether calls are left out as what the filter says, where one answer is explained, and that answer is wrong:
/// then as many steps are taken as without these calls.
#[track_caller]
fn assert_left_out(calls: &[Asked], target: usize, answer: Response, filter: Filter, left_out: &[usize]) {
    let answers = |asked: &[Asked], target: usize| {
        let mut answers = vec![None; asked.len()];
        answers[target] = Some(answer.clone());
        answers
    };
    let steps = |asked: &[Asked], target: usize, filter| {
        let checked = check_each(asked, &answers(asked, target), Compared::Target, filter);
        assert!(matches!(checked.answer, Answer::Impossible { .. }), "{checked:?}");
        checked.explored.steps
    };
    let is_kept = |place: &usize| !left_out.contains(place);
    let kept: Vec<Asked> = (0..calls.len()).filter(is_kept).map(|place| calls[place].clone()).collect();
    let fewer = steps(&kept, (0..target).filter(is_kept).count(), Filter::None);
    assert_eq!(steps(calls, target, filter), fewer);
    for place in (0..calls.len()).filter(|&place| place != target && is_kept(&place)) {
        let without: Vec<Asked> =
            (0..calls.len()).filter(|&other| other != place).map(|other| calls[other].clone()).collect();
        assert_ne!(steps(&without, target - usize::from(place < target), filter), fewer, "{place} is kept");
    }
}

#[test]
fn the_weak_filter_leaves_out_the_reads_of_table_3_3() {
    let asked = [
        (1, ASYNC, create("/a")),
        (2, ASYNC, exists("/a")),
        (1, ASYNC, delete("/a")),
        (2, ASYNC, Operation::GetData { path: "/a".into() }),
    ];
    let not_empty = Response::Error(Error::NotEmpty);
    assert_left_out(&asked, 2, not_empty.clone(), Filter::Reads, &[1, 3]);
    assert_left_out(&asked, 2, not_empty, Filter::Unrelated, &[1, 3]);
}

#[test]
fn the_strong_filter_leaves_out_what_table_3_4_creates_elsewhere() {
    let elsewhere = 5;
    let asked = [
        (1, ASYNC, create("/a")),
        (2, ASYNC, create("/a/c")),
        (3, ASYNC, delete("/a")),
        (1, ASYNC, create("/a/b")),
        (2, ASYNC, exists("/a")),
        (3, ASYNC, create("/c")),
    ];
    let wrong = Response::Error(Error::BadVersion);
    // A deletion above makes what is created beside a node matter to it.
    assert_left_out(&asked, 3, wrong.clone(), Filter::Unrelated, &[4, elsewhere]);
    assert_left_out(&asked, 3, wrong.clone(), Filter::Reads, &[4]);
    // Nothing is deleted above, so it does not.
    let kept: Vec<Asked> = asked.iter().filter(|asked| asked.2 != delete("/a")).cloned().collect();
    assert_left_out(&kept, 2, wrong.clone(), Filter::Unrelated, &[1, 3, 4]);
    assert_left_out(&asked, elsewhere, wrong, Filter::Unrelated, &[0, 1, 2, 3, 4]);
}

#[test]
fn simple_checking_misses_what_strict_checking_finds_in_table_3_5() {
    let asked = [(1, ASYNC, create("/a")), (2, ASYNC, delete("/a")), (2, ASYNC, exists("/a"))];
    let answers = [Some(Response::Done), Some(Response::Done), Some(Response::Exists(true))];
    assert!(!is_possible(&asked, &answers));
    let strategies = [Strategy::JustInTime, Strategy::AnswerOrder, Strategy::CallOrder, Strategy::BreadthFirst];
    for filter in FILTERS {
        for strategy in strategies {
            let check = |compared| {
                let scope = Scope::EachCall { compared, filter };
                let check = Check { order: Order::ordered_sequential(), scope, strategy, ..Check::default() };
                check.run(&history(&asked, &answers), &ZooKeeper::default()).is_possible()
            };
            assert!(check(Compared::Target), "{filter:?} {strategy:?}");
            assert!(!check(Compared::All), "{filter:?} {strategy:?}");
        }
    }
}

#[test]
fn figure_7_has_a_winner_among_the_deletions() {
    let asked = [
        (2, ASYNC, create("/b")),
        (1, SYNC, create("/a")),
        (2, SYNC, exists("/a")),
        (1, ASYNC, exists("/b")),
        (2, ASYNC, delete("/a")),
        (1, SYNC, delete("/a")),
    ];
    let [done, no_node] = [Response::Done, Response::Error(Error::NoNode)];
    let is = |is| Response::Exists(is);
    for (b_is_there, first, second) in [true, false]
        .iter()
        .flat_map(|&is| [(is, &done, &done), (is, &done, &no_node), (is, &no_node, &done), (is, &no_node, &no_node)])
    {
        let answers = |a_is_there| {
            [done.clone(), done.clone(), is(a_is_there), is(b_is_there), first.clone(), second.clone()].map(Some)
        };
        assert_eq!(is_possible(&asked, &answers(true)), first != second, "{b_is_there} {first:?} {second:?}");
        // The synchronous calls come in their order, and /a is deleted after the second of them.
        assert!(!is_possible(&asked, &answers(false)), "{b_is_there} {first:?} {second:?}");
    }
}

#[test]
fn a_call_that_may_not_have_happened_puts_nothing_in_order() {
    // The creation of /a comes after that of /b, if that happened, and only then after the call of session 1 before it.
    let asked = [(1, ASYNC, exists("/a")), (1, SYNC, create("/b")), (2, SYNC, create("/a"))];
    let answers = [Some(Response::Exists(true)), None, Some(Response::Done)];
    assert!(is_possible(&asked, &answers));
    for filter in FILTERS {
        for compared in [Compared::Target, Compared::All] {
            assert!(check_each(&asked, &answers, compared, filter).is_possible(), "{compared:?} {filter:?}");
        }
    }
}
