//! What keeps a port from all others.

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::Claim;
#[cfg(target_os = "linux")]
pub(super) use linux::Claim;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    /// A port that no other job on the machine has.
    ///
    /// It is a socket whose name stands for the port: the kernel gives the name to one process at a time, takes it back
    /// when that dies, and has names of their own in each network namespace, as ports are. The port itself stays free,
    /// for the program that it is meant for.
    #[derive(Debug)]
    pub(in crate::ports) struct Claim {
        port: u16,
        _name: UnixDatagram,
    }

    impl Claim {
        /// Returns the claim, `None` if another job has it.
        ///
        /// # Errors
        /// The system's reason if it has no sockets left.
        pub(in crate::ports) fn new(port: u16) -> io::Result<Option<Self>> {
            let name = SocketAddr::from_abstract_name(format!("simutant/port/{port}"))?;
            match UnixDatagram::bind_addr(&name) {
                Ok(name) => Ok(Some(Self { port, _name: name })),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
                Err(error) => Err(error),
            }
        }

        pub(in crate::ports) fn port(&self) -> u16 {
            self.port
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::collections::BTreeSet;
    use std::io;
    use std::sync::{Mutex, PoisonError};

    /// Jobs of several runs share the machine's ports, hence one set for all.
    static CLAIMED: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

    /// A port that no other job of this process has.
    #[derive(Debug)]
    pub(in crate::ports) struct Claim(u16);

    impl Claim {
        /// Returns the claim, `None` if another job has it.
        pub(in crate::ports) fn new(port: u16) -> io::Result<Option<Self>> {
            let is_new = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).insert(port);
            Ok(is_new.then_some(Self(port)))
        }

        pub(in crate::ports) fn port(&self) -> u16 {
            self.0
        }
    }

    impl Drop for Claim {
        fn drop(&mut self) {
            CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        }
    }
}
