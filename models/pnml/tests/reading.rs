//! What is not read is an error with its line, what is read can be written, and no file makes the reader panic.

use proptest::prelude::*;
use simutant_pnml::{Budget, PnmlNet};

const NETS: [&str; 6] = [
    include_str!("nets/classes.pnml"),
    include_str!("nets/peterson.pnml"),
    include_str!("nets/philosophers.pnml"),
    include_str!("nets/producer_consumer.pnml"),
    include_str!("nets/token_ring.pnml"),
    include_str!("nets/votes.pnml"),
];

/// A symmetric net, in which the tests change lines.
const SYMMETRIC: &str = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/symmetricnet">
<declaration><structure><declarations>
<namedsort id="A" name="A"><cyclicenumeration><feconstant id="a0" name="0"/><feconstant id="a1" name="1"/></cyclicenumeration></namedsort>
<namedsort id="B" name="B"><productsort><usersort declaration="A"/><usersort declaration="A"/></productsort></namedsort>
<partition id="P" name="P"><usersort declaration="A"/><partitionelement id="p0" name="p0"><useroperator declaration="a0"/><useroperator declaration="a1"/></partitionelement></partition>
<variabledecl id="x" name="x"><usersort declaration="A"/></variabledecl>
</declarations></structure></declaration>
<page id="page">
<place id="p"><type><structure><usersort declaration="A"/></structure></type></place>
<transition id="t"><condition><structure><equality><subterm><variable refvariable="x"/></subterm><subterm><useroperator declaration="a0"/></subterm></equality></structure></condition></transition>
<arc id="a" source="p" target="t"><hlinscription><structure><variable refvariable="x"/></structure></hlinscription></arc>
</page>
</net>
</pnml>"#;

/// A place/transition net, in which the tests change lines.
const PLAIN: &str = r#"<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
<net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet">
<page id="page">
<place id="p"><initialMarking><text>1</text></initialMarking></place>
<transition id="t"/>
<arc id="a" source="p" target="t"><inscription><text>1</text></inscription></arc>
</page>
</net>
</pnml>"#;

#[track_caller]
fn check(file: &str, from: &str, to: &str, expected: &str) {
    assert!(PnmlNet::read(file).is_ok_and(|net| net.unfold().is_ok()), "the file is right before it is changed");
    assert_eq!(file.matches(from).count(), 1, "{from}");
    let error = PnmlNet::read(&file.replace(from, to)).expect_err(to).to_string();
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn errors_name_the_line() {
    let plain = |from, to, expected| check(PLAIN, from, to, expected);
    plain("</page>", "</pag>", "line 7: damaged XML");
    plain("</net>", "</net><net id=\"m\"/>", "line 8: `net` is not supported; keep one net in a file");
    plain("pnml\">", "pnml\"><name/>", "line 1: `name` is not supported; keep one net in a file");
    plain("ptnet", "pt-hlpng", "line 2: `net` has the value `http://www.pnml.org/version-2009/grammar/pt-hlpng`");
    plain("id=\"n\"", "", "line 2: `net` has no id");
    plain("<transition id=\"t\"/>", "<transition/>", "line 5: `transition` has no id");
    plain("<transition id=\"t\"/>", "<transition id=\"p\"/>", "line 5: `transition` has the id `p` of another one");
    plain(
        "<transition id=\"t\"/>",
        "<transition id=\"t\"><delay/></transition>",
        "line 5: `delay` is not supported; remove",
    );
    plain(
        "<transition id=\"t\"/>",
        "<transition id=\"t\"><condition/></transition>",
        "line 5: `condition` is not supported",
    );
    plain("<text>1</text></init", "<text>-1</text></init", "line 4: `initialMarking` has the value `-1`; use a number");
    plain("<text>1</text></init", "<text>18446744073709551616</text></init", "line 4: `initialMarking` has the value");
    plain("<text>1</text></insc", "<text>0</text></insc", "line 6: `inscription` has the value `0`; use at least 1");
    plain("<text>1</text></insc", "</insc", "line 6: `inscription` has no text");
    plain(
        "<inscription>",
        "<type value=\"inhibitor\"/><inscription>",
        "line 6: `type` is not supported; only arcs that",
    );
    plain("source=\"p\"", "source=\"p\" type=\"reset\"", "line 6: `arc type=` is not supported");
    let tagged = "source=\"p\" xmlns:t=\"urn:t\" t:type=\"inhibitor\"";
    plain("source=\"p\"", tagged, "line 6: `arc type=` is not supported");
    plain("<text>1</text></insc", "<text weight=\"2\">1</text></insc", "line 6: `text weight=` is not supported");
    plain("source=\"p\"", "source=\"q\"", "line 6: `arc` refers to `q`, which is no place, transition or reference");
    plain("source=\"p\"", "source=\"t\"", "line 6: `arc` is not supported; an arc leads from a place to a transition");
    plain("</place>", "<capacity/></place>", "line 4: `capacity` is not supported");
    plain("</place>", "more</place>", "line 4: `place` has the value `more`; use elements only");
    plain("</place>", "<x:y xmlns:x=\"u\"/></place>", "line 4: `y` is not supported; it is of another name space");
    plain(
        "<page id=\"page\">",
        "<place id=\"q\"/><page id=\"page\">",
        "line 3: `place` is not supported; put it on a page",
    );
    plain(
        "</page>",
        "<referencePlace id=\"r\" ref=\"r\"/></page>",
        "line 7: `referencePlace` refers to `r`, which is a reference",
    );
    plain(
        "</page>",
        "<referencePlace id=\"r\" ref=\"t\"/></page>",
        "line 7: `referencePlace` refers to `t`, which is of the",
    );
    plain("</page>", "<referenceTransition id=\"r\"/></page>", "line 7: `referenceTransition` has no ref");
    plain("</page>", "<arc id=\"a\" source=\"t\" target=\"p\"/></page>", "line 7: `arc` has the id `a` of another one");
    plain(
        "<page id=\"page\">",
        "<declaration><structure/></declaration><page id=\"page\">",
        "line 3: `structure` has no",
    );

    let symmetric = |from, to, expected| check(SYMMETRIC, from, to, expected);
    symmetric("<feconstant id=\"a1\"", "<feconstant id=\"a0\"", "line 4: `feconstant` has the id `a0` of another one");
    symmetric("id=\"B\"", "id=\"A\"", "line 5: `namedsort` has the id `A` of another one");
    let two = "<usersort declaration=\"A\"/><usersort declaration=\"A\"/>";
    symmetric(two, "<usersort declaration=\"B\"/>", "line 5: `namedsort` refers to `B`, which is declared by itself");
    symmetric(two, "<usersort declaration=\"C\"/>", "line 5: `usersort` refers to `C`, which is no declared sort");
    symmetric(
        two,
        "<finiteintrange start=\"2\" end=\"1\"/>",
        "line 5: `finiteintrange` has the value `2 to 1`; use 1 to 2^32",
    );
    symmetric(two, "<list/>", "line 5: `list` is not supported; use sorts of symmetric nets");
    symmetric(
        "<useroperator declaration=\"a1\"/>",
        "",
        "line 6: `partition` has the value `1`; use a partition with each",
    );
    symmetric(
        "<useroperator declaration=\"a1\"/>",
        "<useroperator declaration=\"a0\"/>",
        "line 6: `useroperator` has the value",
    );
    symmetric(
        "</declarations>",
        "<namedoperator id=\"o\"/></declarations>",
        "line 8: `namedoperator` is not supported",
    );
    symmetric(
        "<place id=\"p\">",
        "<place id=\"p\"><hlinitialMarking/>",
        "line 10: `hlinitialMarking` has no structure",
    );
    symmetric("<place id=\"p\">", "<place id=\"p\"><initialMarking/>", "line 10: `initialMarking` is not supported");
    symmetric("<type>", "<name/><name/><type>", "line 10: `name` is not supported; it is there twice");
    symmetric(
        "<subterm><variable refvariable=\"x\"/></subterm>",
        "",
        "line 11: `equality` has the value `1 subterms`; use two",
    );
    let guard = "<variable refvariable=\"x\"/></subterm>";
    symmetric(
        guard,
        "<variable refvariable=\"y\"/></subterm>",
        "line 11: `variable` refers to `y`, which is no declared",
    );
    symmetric(guard, "<dotconstant/></subterm>", "line 11: `useroperator` is of sort `A`, where of sort dot is needed");
    symmetric("equality><subterm>", "tuple><subterm>", "line 11: damaged XML");
    let inscription = "<variable refvariable=\"x\"/></structure>";
    symmetric(
        inscription,
        "<dotconstant/></structure>",
        "line 12: `dotconstant` is of sort dot, where of sort `A` is needed",
    );
    symmetric(inscription, "<cardinality/></structure>", "line 12: `cardinality` is not supported; use terms");
    symmetric(inscription, "</structure>", "line 12: `structure` has no term");
    symmetric(
        "target=\"t\"><hlinscription>",
        "target=\"t\"><inscription/><hlinscription>",
        "line 12: `inscription` is not supported",
    );
    let arc = "<hlinscription><structure><variable refvariable=\"x\"/></structure></hlinscription>";
    symmetric(arc, "", "line 12: `arc` has no hlinscription");
    let all = "<hlinscription><structure><successor><subterm><all><usersort declaration=\"A\"/></all></subterm></successor>\
               </structure></hlinscription>";
    symmetric(arc, all, "line 12: `all` is a multiset, where one colour is needed");
}

#[test]
fn deep_files_are_an_error() {
    let depth = 200_000;
    let deep = format!("<pnml>{}{}</pnml>", "<and>\n".repeat(depth), "</and>".repeat(depth));
    let error = PnmlNet::read(&deep).expect_err("it is too deep").to_string();
    assert!(error.starts_with("line 199: damaged XML (elements are nested more than 200 deep)"), "{error}");
}

#[test]
fn what_tools_have_added_is_written_again() {
    let net = PnmlNet::read(include_str!("nets/token_ring.pnml")).expect("it is right");
    let written = net.to_pnml();
    for kept in [
        "<lay:out xmlns:lay=\"urn:layout\" lay:rows=\"2\">rows &lt;of&gt; stations</lay:out>",
        "<toolspecific xmlns:c=\"urn:colours\" tool=\"colours\" version=\"2\">",
        "<c:fill colour=\"red\"/>",
        "<referencePlace id=\"ringThere\" ref=\"ringHere\"/>",
        "<arc id=\"in1\" source=\"ringThere\" target=\"skip\">",
        "<position x=\"100\" y=\"60\"/>",
    ] {
        assert!(written.contains(kept), "{kept} is not in\n{written}");
    }
    assert_eq!(PnmlNet::read(&written), Ok(net));
    let net = PnmlNet::read(include_str!("nets/producer_consumer.pnml")).expect("it is right");
    assert!(net.to_pnml().contains("<offset x=\"3\" y=\"1\"/>"));
}

#[test]
fn name_spaces_are_kept_whatever_their_prefix() {
    let file = r#"<p:pnml xmlns:p="http://www.pnml.org/version-2009/grammar/pnml" xmlns:q = 'urn:"q"'>
        <p:net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><p:page id="page">
        <p:toolspecific tool="xmlns:q=" version="1"><q:a r="&lt;&#10;"/><b/></p:toolspecific></p:page></p:net></p:pnml>"#;
    let net = PnmlNet::read(file).expect("it is right");
    let written = net.to_pnml();
    assert!(written.contains("xmlns:q=\"urn:&quot;q&quot;\"") && written.contains("xmlns=\"\""), "{written}");
    let again = PnmlNet::read(&written).expect("it was written by us");
    assert_eq!(again, PnmlNet::read(&again.to_pnml()).expect("it was written by us"));
}

/// A change of a file.
#[derive(Debug, Clone)]
enum Change {
    Byte(prop::sample::Index, u8),
    Remove(prop::sample::Index, u8),
    Repeat(prop::sample::Index, u8),
    Swap(prop::sample::Index, prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let byte = prop_oneof![any::<u8>(), prop::sample::select(b"<>/\"=&;' 0123456789".to_vec())];
    prop_oneof![
        (at(), byte).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (at(), any::<u8>()).prop_map(|(at, count)| Change::Remove(at, count)),
        (at(), any::<u8>()).prop_map(|(at, count)| Change::Repeat(at, count)),
        (at(), at()).prop_map(|(one, other)| Change::Swap(one, other)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let slice = |bytes: &[u8], at: &prop::sample::Index, count: u8| {
        let at = at.index(bytes.len());
        at..(at + usize::from(count)).min(bytes.len())
    };
    match change {
        _ if bytes.is_empty() => {}
        Change::Byte(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Change::Remove(at, count) => _ = bytes.drain(slice(bytes, at, *count)),
        Change::Repeat(at, count) => {
            let slice = slice(bytes, at, *count);
            let copy = bytes[slice.clone()].to_vec();
            bytes.splice(slice.start..slice.start, copy);
        }
        Change::Swap(one, other) => {
            // Two words, so that the file often stays well-formed.
            let text = String::from_utf8_lossy(bytes).into_owned();
            let words: Vec<&str> = text.split('"').collect();
            let (one, other) = (one.index(words.len()), other.index(words.len()));
            let mut swapped = words.clone();
            swapped.swap(one, other);
            *bytes = swapped.join("\"").into_bytes();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_file_makes_the_reader_panic(which in 0..NETS.len(), changes in prop::collection::vec(change(), 1..4)) {
        let mut bytes = NETS[which].as_bytes().to_vec();
        changes.iter().for_each(|change| apply(&mut bytes, change));
        let text = String::from_utf8_lossy(&bytes);
        match PnmlNet::read(&text) {
            Err(error) => prop_assert!(error.to_string().starts_with("line "), "{}", error),
            Ok(net) => {
                let again = PnmlNet::read(&net.to_pnml());
                prop_assert_eq!(again.as_ref(), Ok(&net));
                if let Ok(unfolded) = net.unfold() {
                    _ = unfolded.explore(&Budget { markings: Some(500), bytes: None });
                }
            }
        }
    }
}
