//! Mistakes that people make with HTTP. `--fault NAME` makes the server behave so.
//!
//! They are those of twenty servers that Li made of Apache ("Testing by Dualization", PhD thesis, University of Pennsylvania,
//! 2022, figure 6.2), each named with its label there. Four of these were in Apache's proxy, and stand here where a server
//! without a proxy has the same to do. Two have the same name there, and four lose contents: here each loses another part, so
//! that no two servers look alike to a client.

use super::behaviour::Behaviour;
use super::message::Method;
use super::tag::Tag;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 20] = [
    ("adds-a-byte", &AddsAByte),
    ("answers-put-as-get", &AnswersPutAsGet),
    ("compares-if-match-weakly", &ComparesIfMatchWeakly),
    ("compares-if-none-match-strongly", &ComparesIfNoneMatchStrongly),
    ("drops-request-contents", &DropsRequestContents),
    ("drops-response-contents", &DropsResponseContents),
    ("drops-the-last-byte", &DropsTheLastByte),
    ("flips-a-bit", &FlipsABit),
    ("forgets-full-pieces", &ForgetsFullPieces),
    ("forgets-the-last-piece", &ForgetsTheLastPiece),
    ("misnames-the-tag", &MisnamesTheTag),
    ("returns-too-early", &ReturnsTooEarly),
    ("says-200-for-304", &Says200For304),
    ("says-200-for-412", &Says200For412),
    ("says-412-for-200", &Says412For200),
    ("sends-nothing", &SendsNothing),
    ("skips-no-match", &SkipsNoMatch),
    ("skips-not-found", &SkipsNotFound),
    ("skips-writes", &SkipsWrites),
    ("writes-beside", &WritesBeside),
];

/// How much a buffer holds that contents are sent from.
const PIECE_BYTES: usize = 32;

/// A PUT stores a byte more than it was given.
///
/// A length counts the zero that ends a string, too. Shows when a content is asked for, or its length. Li's dav-15.
#[derive(Debug)]
struct AddsAByte;

impl Behaviour for AddsAByte {
    fn stored(&self, content: &[u8]) -> Vec<u8> {
        [content, b"\0"].concat()
    }
}

/// A PUT is answered as a GET.
///
/// A table of methods has one line too few, or two in another order. Shows at the first PUT whose conditions hold: what it
/// creates is not found. Li's dav-1.
#[derive(Debug)]
struct AnswersPutAsGet;

impl Behaviour for AnswersPutAsGet {
    fn performed(&self, method: Method) -> Method {
        if method == Method::Put { Method::Get } else { method }
    }
}

/// Tags of If-Match are compared weakly.
///
/// One comparison serves both fields. Shows when If-Match has the tag of a content, and one of both is weak: the request is
/// performed. Li's http-13.
#[derive(Debug)]
struct ComparesIfMatchWeakly;

impl Behaviour for ComparesIfMatchWeakly {
    fn matches(&self, given: &Tag, current: &Tag) -> bool {
        given.is_weakly(current)
    }
}

/// Tags of If-None-Match are compared strongly.
///
/// One comparison serves both fields, or the RFC of 1999 is followed, which has it so for changes. Shows when If-None-Match has
/// the tag of a content, and one of both is weak: the request is performed. Li's dav-14.
#[derive(Debug)]
struct ComparesIfNoneMatchStrongly;

impl Behaviour for ComparesIfNoneMatchStrongly {
    fn matches_none(&self, given: &Tag, current: &Tag) -> bool {
        given.is_strongly(current)
    }
}

/// A PUT stores an empty content.
///
/// A request is passed on before its content has arrived. Shows when a content is asked for, or its length. Li's proxy-10, where
/// the proxy passes requests on without their contents.
#[derive(Debug)]
struct DropsRequestContents;

impl Behaviour for DropsRequestContents {
    fn stored(&self, _content: &[u8]) -> Vec<u8> {
        Vec::new()
    }
}

/// A content is sent in chunks, of which only the last one goes out, which is empty.
///
/// The stream is closed properly, so the response looks whole. Shows at the GET of a content; a HEAD says its length. Li's
/// proxy-6, where the proxy passes responses on without their contents.
#[derive(Debug)]
struct DropsResponseContents;

impl Behaviour for DropsResponseContents {
    fn loses_chunks(&self) -> bool {
        true
    }
}

/// A PUT stores a byte less than it was given.
///
/// A loop ends one step too early. Shows when a content is asked for, or its length. Li's dav-17.
#[derive(Debug)]
struct DropsTheLastByte;

impl Behaviour for DropsTheLastByte {
    fn stored(&self, content: &[u8]) -> Vec<u8> {
        content[..content.len().saturating_sub(1)].to_vec()
    }
}

/// A bit of each tag of If-None-Match is read wrong.
///
/// A defect of the memory, or a mask with a bit too few. Shows when If-None-Match has the tag of a content: the request is
/// performed. Or it has the tag that differs in this bit, and the request is refused. Li's http-16.
#[derive(Debug)]
struct FlipsABit;

impl Behaviour for FlipsABit {
    fn matches_none(&self, given: &Tag, current: &Tag) -> bool {
        let mut bytes = given.opaque.clone().into_bytes();
        bytes.iter_mut().last().into_iter().for_each(|byte| *byte ^= 1);
        bytes == current.opaque.as_bytes()
    }
}

/// A buffer that is full is emptied, and not sent before.
///
/// Small contents pass. Shows at the GET of a content that fills a buffer. Li's core-8.
#[derive(Debug)]
struct ForgetsFullPieces;

impl Behaviour for ForgetsFullPieces {
    fn sent(&self, content: &[u8]) -> Vec<u8> {
        content.chunks_exact(PIECE_BYTES).remainder().to_vec()
    }
}

/// A buffer is sent when it is full, and not at the end of a content.
///
/// The last line of a loop is missing after it. Shows at the GET of a content that does not end with a full buffer. Li's proxy-7,
/// where the proxy does not pass on what it has read.
#[derive(Debug)]
struct ForgetsTheLastPiece;

impl Behaviour for ForgetsTheLastPiece {
    fn sent(&self, content: &[u8]) -> Vec<u8> {
        content[..content.len() - content.len() % PIECE_BYTES].to_vec()
    }
}

/// The tag of a content that is sent stands in a field of another name.
///
/// A name is written twice, and once wrong. Clients see a content without a tag where the answer to a PUT had one, or a 304
/// without the tag. A server whose tags all have the wrong name has none, which breaks no rule. Li's proxy-9, where the proxy
/// looks for a field of another name.
#[derive(Debug)]
struct MisnamesTheTag;

impl Behaviour for MisnamesTheTag {
    fn tag_field(&self) -> &'static str {
        "E-Tag"
    }
}

/// GET and HEAD return before they have looked for anything: success, and nothing else.
///
/// A check at the beginning of a function is the wrong way round. Shows at any GET or HEAD, also where there is no content. Li's
/// core-2.
#[derive(Debug)]
struct ReturnsTooEarly;

impl Behaviour for ReturnsTooEarly {
    fn returns_at_once(&self, method: Method) -> bool {
        matches!(method, Method::Get | Method::Head)
    }
}

/// A content that was not modified is sent all the same, with 200.
///
/// It is what a server without conditions says, and only costs time: so it is hardly noticed. Shows when If-None-Match of a GET
/// has the tag of the content. A server may do so where dates alone say that nothing was modified. Li's http-18.
#[derive(Debug)]
struct Says200For304;

impl Behaviour for Says200For304 {
    fn status(&self, due: u16) -> u16 {
        if due == 304 { 200 } else { due }
    }
}

/// A request whose conditions do not hold is answered 200, and not performed.
///
/// A status is set in a place that a later one overwrites. A client takes its change for made. Shows when a condition does not
/// hold. Li's http-12.
#[derive(Debug)]
struct Says200For412;

impl Behaviour for Says200For412 {
    fn status(&self, due: u16) -> u16 {
        if due == 412 { 200 } else { due }
    }
}

/// A content is sent with 412.
///
/// The status of a condition that does not hold is where a variable starts. Shows at the GET or HEAD of a content. Li's http-3.
#[derive(Debug)]
struct Says412For200;

impl Behaviour for Says412For200 {
    fn status(&self, due: u16) -> u16 {
        if due == 200 { 412 } else { due }
    }
}

/// No content is sent, and its length is said to be 0.
///
/// Filters take and give contents; the last one of them is given another buffer than the one that was filled. Shows at the GET of
/// a content; a HEAD says its length. Li's core-4.
#[derive(Debug)]
struct SendsNothing;

impl Behaviour for SendsNothing {
    fn sent(&self, _content: &[u8]) -> Vec<u8> {
        Vec::new()
    }
}

/// If no tag of If-Match is the current one, the next condition is looked at.
///
/// A chain of conditions has no return in one branch. `If-Match: *` still works. Shows when no tag of If-Match is the current
/// one: the request is performed. Li's http-11.
#[derive(Debug)]
struct SkipsNoMatch;

impl Behaviour for SkipsNoMatch {
    fn refuses_without_match(&self) -> bool {
        false
    }
}

/// Where there is no content, the server goes on, cannot read it, and says 403.
///
/// The line that returns after the check was taken out (Li's figure 6.1). Shows when what is not there is asked for or removed,
/// so that contents on all targets hide it. Li's core-5.
#[derive(Debug)]
struct SkipsNotFound;

impl Behaviour for SkipsNotFound {
    fn status(&self, due: u16) -> u16 {
        if due == 404 { 403 } else { due }
    }
}

/// A PUT to a content that is there succeeds, and changes nothing.
///
/// A map inserts what it does not have yet, and keeps what it has. Shows when a content is asked for, or a tag compared, after
/// the second PUT, and before it was removed. Li's dav-20.
#[derive(Debug)]
struct SkipsWrites;

impl Behaviour for SkipsWrites {
    fn replaces(&self) -> bool {
        false
    }
}

/// A PUT begins with its target one byte too late: it has no slash.
///
/// One function wants names of files, and the others paths. All PUT agree with each other: they create, replace and are refused
/// as they should be. Shows when another method asks for what a PUT has made. Li's dav-19.
#[derive(Debug)]
struct WritesBeside;

impl Behaviour for WritesBeside {
    fn put_target<'a>(&self, path: &'a str) -> &'a str {
        &path[1..]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::Correct;
    use crate::message::Request;
    use crate::store::Store;

    /// Requests to a target with strong tags, and to one with weak ones.
    const REQUESTS: &[&str] = &[
        "GET /0",
        "PUT /0 less than a piece",
        "HEAD /0",
        "GET /0",
        "GET /0 If-None-Match: \"1\"",
        "GET /0 If-Match: \"2\"",
        "PUT /0 more than what one piece of a content is",
        "GET /0",
        "DELETE /0 If-None-Match: \"2\"",
        "PUT /1 something",
        "GET /1 If-Match: W/\"3\"",
        "GET /1 If-None-Match: W/\"3\"",
    ];

    /// Returns what a server says to all requests, but for its dates.
    fn said(behaviour: &'static dyn Behaviour) -> String {
        let mut store = Store::new(behaviour);
        let answer = |line: &&str| {
            let (method, rest) = line.split_once(' ').expect("a method");
            let (path, rest) = rest.split_once(' ').unwrap_or((rest, "A: b"));
            let (field, content) = if method == "PUT" { ("A: b", rest) } else { (rest, "") };
            let length = content.len();
            let text =
                format!("{method} {path} HTTP/1.1\r\nHost: b\r\n{field}\r\nContent-Length: {length}\r\n\r\n{content}");
            let (request, _) = Request::parse(text.as_bytes()).expect("it is one").expect("it is whole");
            let bytes = store.answer(&request).bytes(false);
            let text = String::from_utf8(bytes).expect("text");
            let is_date = |line: &&str| line.starts_with("Date") || line.starts_with("Last-Modified");
            text.split("\r\n").filter(|line| !is_date(line)).collect::<Vec<_>>().join("\n")
        };
        REQUESTS.iter().map(answer).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn no_two_servers_look_alike() {
        let mut all = BTreeSet::from([said(&Correct)]);
        for (name, behaviour) in ALL {
            assert!(all.insert(said(behaviour)), "{name}:\n{}", said(behaviour));
        }
    }

    #[test]
    fn every_fault_has_its_implementation_file() {
        assert!(ALL.is_sorted_by_key(|(name, _)| name));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../implementations");
        let files = std::fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("it is read").path());
        let of_faults = files.filter_map(|path| {
            let text = std::fs::read_to_string(&path).expect("it is text");
            text.contains("\"--fault\"").then(|| path.file_stem().expect("a name").to_string_lossy().into_owned())
        });
        assert_eq!(of_faults.collect::<BTreeSet<_>>(), ALL.iter().map(|(name, _)| format!("http-{name}")).collect());
        for (name, behaviour) in ALL {
            let path = folder.join(format!("http-{name}.toml"));
            let text = std::fs::read_to_string(&path).expect("it is text");
            assert!(text.starts_with(&format!("# See `{behaviour:?}` in programs/src/faults.rs.\n")), "{name}");
            assert!(text.contains(&format!("\"--fault\", \"{name}\"]")), "{name}");
        }
    }
}
