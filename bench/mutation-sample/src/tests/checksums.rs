//! Tests of checksums and random numbers.

use crate::checksum::{Random, crc16, open, seal};

pub(super) fn the_checksum_has_the_published_check_value() {
    assert_eq!(crc16(b"123456789"), 0x29b1, "the check value of CRC-16/CCITT-FALSE");
    assert_eq!(crc16(b""), 0xffff);
    assert_eq!(crc16(b"A"), 0xb915);
    let mut random = Random::new(5);
    for length in 0..20 {
        let mut bytes = || (0..length).map(|_| random.below(256) as u8).collect::<Vec<u8>>();
        let (first, second) = (bytes(), bytes());
        let both: Vec<u8> = first.iter().zip(&second).map(|(first, second)| first ^ second).collect();
        let zeros = vec![0; length];
        assert_eq!(crc16(&first) ^ crc16(&second), crc16(&both) ^ crc16(&zeros), "checksums are affine");
    }
    assert_eq!(seal(b"123456789"), b"123456789\x29\xb1");
    assert_eq!(open(b"123456789\x29\xb1"), Some(&b"123456789"[..]));
    assert_eq!(open(b"123456789\xb1\x29"), None);
    assert_eq!(open(b"123456788\x29\xb1"), None);
}

pub(super) fn what_was_sealed_opens() {
    for length in 0..32 {
        let payload: Vec<u8> = (0..length).map(|byte| 7 * byte + 3).collect();
        let sealed = seal(&payload);
        assert_eq!(sealed.len(), payload.len() + 2);
        assert_eq!(open(&sealed), Some(&payload[..]), "length {length}");
    }
}

pub(super) fn a_damaged_bit_is_found() {
    let sealed = seal(b"once again");
    for bit in 0..8 * sealed.len() {
        let mut damaged = sealed.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(open(&damaged), None, "bit {bit}");
    }
}

pub(super) fn what_is_too_short_does_not_open() {
    assert_eq!(open(&[]), None);
    for byte in 0..=255 {
        assert_eq!(open(&[byte]), None);
        assert_eq!(open(&seal(&[byte])), Some(&[byte][..]));
        assert_eq!(open(&[0xff, byte]).is_some(), byte == 0xff, "an empty payload has one checksum");
    }
}

pub(super) fn a_seed_fixes_the_random_numbers() {
    let mut random = Random::new(7);
    let first: Vec<u64> = (0..4).map(|_| random.bits()).collect();
    assert_eq!(first, FIRST_BITS_OF_SEED_7);
    let mut random = Random::new(7);
    let mut other = Random::new(8);
    let equal = (0..1_500).filter(|_| random.bits() == other.bits()).count();
    assert_eq!(equal, 0, "another seed gives other numbers");
}

const FIRST_BITS_OF_SEED_7: [u64; 4] =
    [17_744_029_896_553_804_442, 17_063_833_174_104_724_607, 9_176_471_292_811_884_567, 10_401_715_604_808_197_031];

pub(super) fn chances_are_percentages() {
    let mut random = Random::new(12);
    let mut happened = |percent| (0..1_000).filter(|_| random.chance(percent)).count();
    assert_eq!(happened(0), 0, "never");
    assert_eq!(happened(100), 1_000, "always");
    assert!((210..290).contains(&happened(25)), "a quarter");
    let mut counts = [0; 8];
    for _ in 0..1_600 {
        counts[random.below(8) as usize] += 1;
    }
    assert!(counts.iter().all(|count| (150..250).contains(count)), "each number as often as any: {counts:?}");
    assert_eq!(random.below(1), 0);
}
