//! Leases: who may use what, and until when.

/// A lease of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The resource.
    pub resource: u32,
    /// Who has it.
    pub holder: u32,
    /// How often the resource has changed hands, this time included.
    pub term: u32,
    /// The time from which on it is free.
    pub expires_at: u64,
}

/// Why a lease is not granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Someone else has it, until this time.
    Taken {
        /// The time.
        until: u64,
    },
    /// Whoever asks has no lease that could be renewed or released.
    NotHeld,
    /// So many leases are not granted to one holder.
    TooMany,
}

/// All leases, in the order of resources.
#[derive(Debug, Clone)]
pub struct LeaseTable {
    leases: Vec<Lease>,
    duration: u64,
    per_holder_max: usize,
}

impl LeaseTable {
    /// Returns a table that grants leases for `duration`, and no holder more than `per_holder_max` at a time.
    pub fn new(duration: u64, per_holder_max: usize) -> Self {
        Self { leases: Vec::new(), duration, per_holder_max }
    }

    /// Returns the index of a resource's lease, or the index at which it belongs.
    fn find(&self, resource: u32) -> Result<usize, usize> {
        let mut low = 0;
        let mut high = self.leases.len();
        while low < high {
            let middle = (low + high) / 2;
            if self.leases[middle].resource == resource {
                return Ok(middle);
            }
            if self.leases[middle].resource < resource {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Err(low)
    }

    /// Returns how many leases a holder has.
    pub fn held(&self, holder: u32, now: u64) -> usize {
        let mut count = 0;
        for lease in &self.leases {
            if lease.holder == holder && lease.expires_at > now {
                count += 1;
            }
        }
        count
    }

    /// Returns who has a resource.
    pub fn holder(&self, resource: u32, now: u64) -> Option<u32> {
        let lease = &self.leases[self.find(resource).ok()?];
        if lease.expires_at > now { Some(lease.holder) } else { None }
    }

    /// Grants a lease, or says why not; returns its term.
    pub fn acquire(&mut self, resource: u32, holder: u32, now: u64) -> Result<u32, Refused> {
        let place = self.find(resource);
        if let Ok(index) = place {
            let lease = &self.leases[index];
            if lease.expires_at > now && lease.holder != holder {
                return Err(Refused::Taken { until: lease.expires_at });
            }
        }
        let has_it = self.holder(resource, now) == Some(holder);
        if !has_it && self.held(holder, now) >= self.per_holder_max {
            return Err(Refused::TooMany);
        }
        let expires_at = now + self.duration;
        match place {
            Ok(index) => {
                let lease = &mut self.leases[index];
                if !has_it {
                    lease.term += 1;
                }
                lease.holder = holder;
                lease.expires_at = expires_at;
                Ok(lease.term)
            }
            Err(index) => {
                self.leases.insert(index, Lease { resource, holder, term: 1, expires_at });
                Ok(1)
            }
        }
    }

    /// Makes a lease last longer, and returns until when.
    pub fn renew(&mut self, resource: u32, holder: u32, now: u64) -> Result<u64, Refused> {
        if self.holder(resource, now) != Some(holder) {
            return Err(Refused::NotHeld);
        }
        let index = self.find(resource).map_err(|_| Refused::NotHeld)?;
        self.leases[index].expires_at = self.leases[index].expires_at.max(now + self.duration);
        Ok(self.leases[index].expires_at)
    }

    /// Gives a resource back.
    pub fn release(&mut self, resource: u32, holder: u32, now: u64) -> Result<(), Refused> {
        if self.holder(resource, now) != Some(holder) {
            return Err(Refused::NotHeld);
        }
        let index = self.find(resource).map_err(|_| Refused::NotHeld)?;
        self.leases[index].expires_at = now;
        Ok(())
    }

    /// Forgets the leases that ended `age` ago or earlier, and returns how many.
    pub fn forget(&mut self, age: u64, now: u64) -> usize {
        let before = self.leases.len();
        self.leases.retain(|lease| lease.expires_at + age > now);
        before - self.leases.len()
    }

    /// Returns all leases, those that have ended included, in the order of resources.
    pub fn leases(&self) -> &[Lease] {
        &self.leases
    }
}
