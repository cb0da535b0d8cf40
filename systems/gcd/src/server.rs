//! The server: computes what it does not remember.

use std::collections::BTreeMap;

use simutant_sim_core::{Context, VirtualDuration, VirtualTime};

use super::{GcdMessage, Response};

/// How long one subtraction takes.
const SUBTRACTION: VirtualDuration = VirtualDuration::from_millis(100);

/// What the server remembers of two numbers, the smaller of which is first in the key.
type Cache = BTreeMap<(u32, u32), CacheValue>;

struct CacheValue {
    used_at: VirtualTime,
    gcd: u32,
}

/// Answers requests on `port`, one after the other, and remembers at most `cache_size` results.
pub async fn server(context: Context<GcdMessage>, port: u16, cache_size: usize) {
    let mut channel = context.channel_at(port);
    let mut cache = Cache::new();
    while context.running() {
        let delivery = channel.recv().await;
        let request = delivery.message.into_request();
        let mut key = (request.a, request.b);
        if request.a > request.b {
            key = (request.b, request.a);
        }
        let gcd = match cache.remove(&key) {
            Some(value) => value.gcd,
            None => euclid(&context, request.a, request.b).await,
        };
        cache.insert(key, CacheValue { used_at: context.now(), gcd });
        if cache.len() > cache_size {
            forget_least_recently_used(&mut cache);
        }
        assert!(cache.len() <= cache_size, "{} results are remembered", cache.len());
        channel.send(delivery.source, Response { gcd });
    }
}

/// Euclid's algorithm in its oldest form.
async fn euclid(context: &Context<GcdMessage>, a: u32, b: u32) -> u32 {
    let mut x = a;
    let mut y = b;
    while x > 0 && y > 0 {
        context.pause(SUBTRACTION).await;
        if x > y {
            x -= y;
        } else {
            y -= x;
        }
    }
    x + y
}

/// Removes the result that was not used for the longest time.
///
/// The published figure of this server (Rutherford, PhD thesis, figure B.4) never updates the least time of use in its
/// loop, and so removes the last result that it comes to. Here the least time goes along.
fn forget_least_recently_used(cache: &mut Cache) {
    let mut least_used_at = VirtualTime::MAX;
    let mut least_key = (0, 0);
    for (key, value) in cache.iter() {
        if value.used_at < least_used_at {
            least_used_at = value.used_at;
            least_key = *key;
        }
    }
    cache.remove(&least_key);
}
