//! A register that is replicated on servers, over TCP.
