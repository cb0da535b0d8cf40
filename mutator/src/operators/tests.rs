//! What each operator makes of its idioms, as snapshots: one for each operator, of that operator alone.

use insta::assert_snapshot;

use crate::test_support::mutants;

#[test]
fn aor() {
    assert_snapshot!(mutants("fn f() { a + b * (c - d) / e % g(); }", "AOR"));
    assert_snapshot!(mutants("fn f() { a + b; }", "AORB"));
}

#[test]
fn ror() {
    assert_snapshot!(mutants("fn f() { g(a < b, a == b + c); }", "ROR"));
    assert_snapshot!(mutants("fn f() { g(a == b + c); }", "mujava,-COI,-ODL,-VDL,-AORB"));
}

#[test]
fn ror_of_an_unsigned_number_and_zero() {
    assert_snapshot!(mutants(
        "const C: u8 = 3; fn f(n: u32, s: i32) { let m = n as u16; g(list.len() > 0, n == 0, 0u8 < x as u8, m != 0, 0 >= C, s > 0, unknown > 0); }",
        "ROR"
    ));
}

#[test]
fn what_only_tells_has_no_mutants() {
    assert_snapshot!(mutants(
        "fn f(s: S) { s.context.note(|| a + 1); if b { s.phase(\"c\" + d(2)); } match e { F => s.log(3), G => s.send(4) } let h = s.phase(5); }",
        "default"
    ));
}

#[test]
fn cor() {
    let source = "fn f() { g(a && b(), c || d); }";
    assert_snapshot!(mutants(source, "COR"));
    assert_snapshot!(mutants(source, "andrews"));
    assert_snapshot!(mutants(source, "mujava"));
}

#[test]
fn coi() {
    assert_snapshot!(mutants(
        "fn f() { if a && !b.is_empty() || c(d) { return; } match x { y if z => (), _ => () } while !done {} }",
        "COI"
    ));
    assert_snapshot!(mutants("fn f() { if a && !b { return; } while c > d {} }", "COI,andrews,-COR,-ROR,-SDL"));
    assert_snapshot!(mutants(
        "fn f() { if a && !b { return; } while c > d {} }",
        "COD,mujava,-COR,-ROR,-SDL,-ODL,-VDL"
    ));
}

#[test]
fn lor() {
    assert_snapshot!(mutants("fn f() { g(a & b | c ^ d, e && h); }", "LOR"));
}

#[test]
fn sor() {
    assert_snapshot!(mutants("fn f() { g(a << b, c >> d); }", "SOR"));
}

#[test]
fn lvr() {
    assert_snapshot!(mutants("fn f() { g(0, 1u8, 7, true, 2.5, \"text\", [3; 9], 0i8, 0u8); }", "LVR"));
    assert_snapshot!(mutants("fn f() { g(0, 1, 7); }", "andrews"));
}

#[test]
fn sdl() {
    assert_snapshot!(mutants(
        "fn f() { a(); b.await; let c = d; if e { g(); h() } else { i(); j(); } for k in l { m(); } n = o; assert!(p); return; }",
        "SDL"
    ));
}

#[test]
fn a_reset_that_is_gone_has_a_tag() {
    assert_snapshot!(mutants(
        "fn f() { self.count = 0; list.clear(); a = None; b = 1; c = Vec::new(); d.clear(e); }",
        "SDL"
    ));
}

#[test]
fn asr() {
    assert_snapshot!(mutants("fn f() { a += b; c &= d; e <<= g; h -= 1; }", "ASR"));
    assert_snapshot!(mutants("fn f() { a += b; c |= d; }", "ASRS"));
}

#[test]
fn rvr() {
    let source =
        |ty: &str| format!("fn f(a: A) -> {ty} {{ if a {{ return b; }} match c {{ D => e, _ => {{ g() }} }} }}");
    for ty in [
        "bool",
        "u32",
        "f64",
        "Option<u8>",
        "Result<bool, E>",
        "Vec<u8>",
        "&str",
        "&[T]",
        "(u8, Unknown)",
        "Unknown",
        "impl T",
    ] {
        assert_snapshot!(format!("rvr of {ty}"), mutants(&source(ty), "RVR"));
    }
    assert_snapshot!("rvr not of closures", mutants("fn f() -> u8 { let c = || { return 3; }; loop {} }", "RVR"));
    assert_snapshot!("rvr of nothing", mutants("fn f() { if a { return; } b() }", "RVR"));
}

#[test]
fn mad() {
    assert_snapshot!(mutants("fn f() { match a { B => c(), D if e => g(), H => i(), _ => i() } }", "MAD"));
    assert_snapshot!(mutants("fn f() { match a { B => c(), D => e() } match g { H => i, other => other } }", "MAD"));
}

#[test]
fn bcr() {
    assert_snapshot!(mutants(
        "fn f() { 'a: loop { break; continue 'a; break 'a; break 3; } 'b: { break 'b; } }",
        "BCR"
    ));
}

#[test]
fn rng() {
    assert_snapshot!(mutants("fn f() { for i in 0..n { g(&v[a..=b], (c + 1)..d.e(), ..); } }", "RNG"));
}

#[test]
fn msg_d() {
    assert_snapshot!(mutants(
        "fn f() { channel.send(to, A); tx.send(1).await?; let _ = tx.try_send(2); _ = tx.send(3); if tx.try_send(4).is_ok() { a(); } match b { C => tx.send(5), _ => d() } }",
        "MSG-D,SDL"
    ));
}

#[test]
fn msg_2() {
    assert_snapshot!(mutants("fn f() { channel.send(to, message); tx.send(1).await?; receive(2); }", "MSG-2"));
}

#[test]
fn msg_t() {
    assert_snapshot!(mutants(
        "fn f(one: Address, other: Address, number: u32) { channel.send(one, 1); channel.send(delivery.source, 2); g(M { from: a, b, to: c }, M { to: d, from: d }, M { source, destination }); }",
        "MSG-T"
    ));
    assert_snapshot!(mutants(
        "fn f() { for peer in &self.peers { channel.send(peer.address, 1); } for round in 0..3 { channel.send(to, 2); } }",
        "MSG-T"
    ));
}

#[test]
fn msg_v() {
    assert_snapshot!(mutants(
        "enum Message { A(u8), B(u8), C(u16), D, E { x: u8 }, F { x: u8 } } enum Other { A, B } fn f() { g(Message::A(1), Message::C(2), Message::D, Message::E { x: 3 }, Other::A); tx.send(Other::A); match h { Message::A(_) => (), _ => () } }",
        "MSG-V"
    ));
}

#[test]
fn dly() {
    assert_snapshot!(mutants(
        "const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(5);
         fn f(now: u64, delay: u64) { due = context.now() + TIMEOUT; at = now + delay; context.sleep(wait).await; schedule(now + 3, e); later = context.now() + g(); }",
        "DLY"
    ));
}

#[test]
fn tmr_d() {
    assert_snapshot!(mutants(
        "fn f() { self.deadline = context.now() + d; timer = Some(now + d); other = now + d; context.set_timer(d); deadline = None; queue.schedule(now + d, e); }",
        "TMR-D"
    ));
}

#[test]
fn tmr_c() {
    assert_snapshot!(mutants(
        "fn f() { self.timer = None; timer.cancel(); self.deadline.take(); list.take(); drop(timer); other = None; }",
        "TMR-C"
    ));
}

#[test]
fn a_check_for_stale_timers_that_is_gone_has_a_tag() {
    assert_snapshot!(mutants("fn f() { if generation == self.generation && a.x == b.x { g(); } }", "ROR"));
}

#[test]
fn rty() {
    assert_snapshot!(mutants(
        "const TRIES: u32 = 3; fn f() { for _ in 0..TRIES { if attempts < self.max_retries { attempts = 0; } } backoff *= 2; self.backoff = INITIAL; next = backoff * 2 + rto.saturating_mul(2) + size * 2; }",
        "RTY"
    ));
}

#[test]
fn tie() {
    assert_snapshot!(mutants(
        "fn f() { self.time.cmp(&other.time).then_with(|| other.sequence.cmp(&self.sequence)); heap.push(Reverse((time, sequence, event))); heap.push((time, event)); heap.push(Reverse((now + d, id))); heap.push((router, id)); g(a.partial_cmp(b)); }",
        "TIE"
    ));
}

#[test]
fn prb() {
    assert_snapshot!(mutants(
        "fn f() { if random.chance(p) { g(random.exponential(mean), random.stream(\"losses\"), Random::from_seed(seed), stream.read()); } let h = rng.gen_bool(0.5); }",
        "PRB,COI"
    ));
}

#[test]
fn state() {
    assert_snapshot!(mutants(
        "enum State { Open, Closed, Half(u8), Full(u8) } fn f() -> State { self.x = State::Open; let mut state = State::Closed; let y = State::Open; g(S { phase: State::Half(1), z: State::Open }); if state == State::Open { return State::Full(2); } state }",
        "STATE"
    ));
    assert_snapshot!(mutants(
        "enum State { Open, Closed, Half } fn f() { self.status = h(); state = State::Open; }",
        "STATE,SDL"
    ));
}

#[test]
fn dur() {
    assert_snapshot!(mutants(
        "fn f() { let log = context.durable(\"log\", Vec::new); let a = durable(b, c); disk.durable(x); let d = self.context.durable::<u32>(n, || 0).get(); }",
        "DUR"
    ));
}

#[test]
fn aw_d() {
    assert_snapshot!(mutants(
        "async fn f() { context.pause(D).await; work(a()).await; let x = g().await; tokio::spawn(task(b)); context.spawn(|c| h(c)); tx.flush().await?; }",
        "AW-D,SDL"
    ));
    assert_snapshot!(mutants(
        "async fn f() { fn g() { spawn(h()) } work(a).await; thread::spawn(|| 1); let child = context.spawn(|context| h(context, b)); child.await; set.spawn(async { i().await; }); context.spawn(j).await; }",
        "AW-D"
    ));
}

#[test]
fn aw_t() {
    assert_snapshot!(mutants(
        "const T: VirtualDuration = D; async fn f() { g(channel.recv_timeout(T).await); timeout(wait, h()).await; channel.recv_timeout(deadline - context.now()).await; }",
        "AW-T"
    ));
}

#[test]
fn sel() {
    assert_snapshot!(mutants(
        "async fn f() { select((a(), b())).await; select([c, d]).await; join((e, g())).await; join(h, i).await; first().await; }",
        "SEL"
    ));
    assert_snapshot!(mutants(
        "async fn f() { tokio::select! { biased; a = b() => { c(a) } Some(d) = e.recv(), if g => h(d, 1), else => { i() } } let j = join!(k(), l); join!(m, n); vec![o, p]; }",
        "SEL"
    ));
}

#[test]
fn call() {
    assert_snapshot!(mutants(
        "fn f() { g(a.min(b), u32::max(c, d), e.pop_front(), h.saturating_sub(1), i.iter().take_while(j).count()); if k.is_some() && !l.is_empty() { m.push_back(n.is_none()); } }",
        "CALL,COI"
    ));
}

#[test]
fn arg() {
    assert_snapshot!(mutants(
        "struct M { seq: u32, ack: u32, size: u8 } impl M { fn new(seq: u32, ack: u32, size: u8) -> M {} fn g(&self, a: u8, b: u8) {} }
         fn f(x: u16, y: u16, m: M) { M::new(p, q, r); m.g(s, t); M { seq: u, ack: 1, size: 2 }; unknown(x, y); unknown(x, m); max(x, y); m.g(s, s); M { seq, ack, size: 3 }; }",
        "ARG"
    ));
}

#[test]
fn odl_vdl_and_cdl() {
    let source = "fn f() { g(a + 1, -b, c() && d, e < h); i += 2; }";
    assert_snapshot!(mutants(source, "ODL"));
    assert_snapshot!(mutants(source, "VDL"));
    assert_snapshot!(mutants(source, "CDL"));
}

#[test]
fn uoi() {
    assert_snapshot!(mutants(
        "fn f(x: f64) { g(list[i], &list[a..b.c], list.truncate(n), n, queue.schedule(x, t)); }",
        "UOI"
    ));
}

#[test]
fn mujava_insertions() {
    let source = "fn f(mut a: i32, b: u32, c: f64) { g(a, b, c); h = a + b; S { a }; text.push(name); }";
    assert_snapshot!(mutants(source, "AOIU"));
    assert_snapshot!(mutants(source, "LOI"));
    assert_snapshot!(mutants(source, "AOIS"));
}

#[test]
fn mujava_deletions() {
    let source = "fn f(a: u32) { g(!a, !b, -c); }";
    assert_snapshot!(mutants(source, "COD"));
    assert_snapshot!(mutants(source, "LOD"));
    assert_snapshot!(mutants(source, "AODU"));
}

#[test]
fn ch() {
    assert_snapshot!(mutants("async fn f() { channel(CAPACITY); mpsc::channel(3); tx.send(m).await; }", "CH"));
}

#[test]
fn lck() {
    assert_snapshot!(mutants(
        "async fn f() { drop(guard); drop(list); state.lock().await.change(1); n.notify_one(); n.notify_waiters(); }",
        "LCK"
    ));
}

#[test]
fn pet() {
    assert_snapshot!(mutants(
        "fn f() { net.input_arc(idle, start, weight); net.add_output(start, busy); consumes(a, b, 2); net.inhibitor(stop, start); net.arc(a, b, 1); }",
        "PET"
    ));
    assert_snapshot!(mutants(
        "fn f() { if self.tokens[ready] >= need && marking[stop] == 0 { self.tokens[ready] -= need; tokens += 1; } g(limit < tokens, tokens * 2, bytes >= need); }",
        "PET"
    ));
    assert_snapshot!("pet with lvr", mutants("fn f() { tokens -= 1; }", "PET,LVR"));
}

#[test]
fn what_is_written_to_stays_a_place() {
    assert_snapshot!(mutants(
        "fn f(a: &mut u32, b: &mut [u32]) { *a = b[0]; **c.d += 1; *b[e + 1] = 2; (*g(h + 1)).i = 3; (*a, *b.j) = k; }",
        "all"
    ));
}

#[test]
fn nothing_is_mutated_in_patterns_types_constants_and_macros() {
    assert_snapshot!(mutants(
        "fn f() { let a: [u8; 3] = b; match c { 1 => d, _ => e }; const G: u32 = 1 + 2; assert!(h < i); let j = |k: [u8; 4]| k; }",
        "all,-MAD"
    ));
}

#[test]
fn nar() {
    assert_snapshot!(mutants(
        "use simutant_nets::Net; fn f(net: &mut Net, done: Place<u8>, list: Place<Vec<u8>>) { let open = net.place::<u8>(\"open\", []); \
         let x = net.place(\"x\", [1]); net.transition(\"t\", (open.take(), x.keep(), list.take_all()), t, (done.put(), x.put_all())).unless_marked(done); }",
        "NAR"
    ));
    assert_snapshot!(mutants("fn f(last: Option<u8>) { g(last.take(), queue.put()); }", "NAR"));
}
