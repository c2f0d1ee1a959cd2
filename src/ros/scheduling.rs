//! Real-time scheduling of the threads that step, publish and receive, the middleware's among them: priority,
//! processors, locked memory.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{Resource, getpriority_process, getrlimit, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ScheduleParams, ThreadPriority, ThreadSchedulePolicy, set_thread_priority_and_policy,
    thread_native_id, thread_schedule_policy_param,
};

/// The reason why the operating system does not give a thread what the parameters request.
#[derive(Debug, thiserror::Error)]
pub enum SchedulingError {
    /// A priority that is not a whole number from 0 to 99.
    #[error("parameter 'realtime_priority': {0} is not a whole number from 0 to 99")]
    Fraction(f64),
    /// The user may not use the priority.
    #[error(
        "parameter 'realtime_priority': the system refuses SCHED_FIFO with priority {priority} ({reason}); this user's limit is \
         {limit}. Raise it with the line `<user> - rtprio 99` in /etc/security/limits.conf and a new login, in a container with \
         `--cap-add=sys_nice` or `--ulimit rtprio=99`, or set the parameter to 0"
    )]
    Priority {
        /// The requested priority.
        priority: u8,
        /// The limit `rtprio`.
        limit: String,
        /// The reason that the system gives.
        reason: String,
    },
    /// Not a list of processors.
    #[error("parameter 'cpus': '{0}' is not a list of processors, such as 2 or 2,3 or 2-5")]
    NotCpus(String),
    /// The process may not use a processor.
    #[error("parameter 'cpus': processor {cpu} is not available to this process, which may use {allowed}")]
    Cpu {
        /// The processor.
        cpu: usize,
        /// The processors that may be used.
        allowed: String,
    },
    /// The system refuses the processors.
    #[error(
        "parameter 'cpus': the system refuses the processors; leave the parameter empty to keep those of the process"
    )]
    Affinity(#[source] std::io::Error),
    /// The user may not lock so much memory.
    #[error(
        "parameter 'lock_memory': the system refuses to lock the memory of this process ({reason}); this user may lock {limit}. \
         Raise the limit with the line `<user> - memlock unlimited` in /etc/security/limits.conf and a new login, in a \
         container with `--ulimit memlock=-1`, or set the parameter to false"
    )]
    Memory {
        /// The limit `memlock`.
        limit: String,
        /// The reason that the system gives.
        reason: std::io::Error,
    },
}

/// The scheduling of a thread before it was changed.
struct PreviousScheduling {
    cpus: CpuSet,
    policy: ThreadSchedulePolicy,
    params: ScheduleParams,
    nice: i32,
}

/// The priority that the crate `thread_priority` turns into niceness 0.
const NICE_0: i32 = 47;

/// The scheduling with which the process started, if [`Scheduling`] changes it.
static PREVIOUS: OnceLock<PreviousScheduling> = OnceLock::new();

/// Whether the parameters request a priority of SCHED_FIFO.
static RAISED: AtomicBool = AtomicBool::new(false);

/// Lets the other threads with the same priority run first if they share the processor. Under SCHED_FIFO, a
/// thread that steps without waiting would otherwise never let the publishing and receiving threads run.
pub(super) fn share_processor() {
    if RAISED.load(Ordering::Relaxed) {
        std::thread::yield_now();
    }
}

/// The scheduling that the parameters request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scheduling {
    /// Of SCHED_FIFO; 0 keeps the scheduling of the process.
    priority: u8,
    /// Empty keeps those of the process.
    cpus: Vec<usize>,
    lock_memory: bool,
}

impl Scheduling {
    /// The scheduling that the parameters `realtime_priority`, `cpus` and `lock_memory` ask for.
    pub(super) fn new(priority: f64, cpus: &str, lock_memory: bool) -> Result<Self, SchedulingError> {
        if priority.fract() != 0.0 || !(0.0..=99.0).contains(&priority) {
            return Err(SchedulingError::Fraction(priority));
        }
        let cpus = cpu_list(cpus).ok_or_else(|| SchedulingError::NotCpus(cpus.to_owned()))?;
        Ok(Self { priority: priority as u8, cpus, lock_memory })
    }

    /// Keeps the memory of the process out of the swap, including memory that it allocates later. A limited
    /// amount is refused, because a later allocation beyond the limit would end the process.
    pub(super) fn lock_memory(&self) -> Result<(), SchedulingError> {
        if !self.lock_memory {
            return Ok(());
        }
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        if is_limited(getrlimit(Resource::Memlock).current, &status) {
            let reason = std::io::ErrorKind::PermissionDenied.into();
            return Err(SchedulingError::Memory { limit: limit(Resource::Memlock, "bytes"), reason });
        }
        let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
        mlockall(flags)
            .map_err(|error| SchedulingError::Memory { limit: limit(Resource::Memlock, "bytes"), reason: error.into() })
    }

    /// Whether threads keep the scheduling of the process.
    pub(super) fn is_ordinary(&self) -> bool {
        self.priority == 0 && self.cpus.is_empty()
    }

    /// Calls `spawn` with this scheduling, which the threads that it starts inherit.
    pub(super) fn of_threads_from<T>(&self, spawn: impl FnOnce() -> T) -> Result<T, SchedulingError> {
        if self.is_ordinary() {
            return Ok(spawn());
        }
        RAISED.store(self.priority > 0, Ordering::Relaxed);
        let applied = self.apply().map(|()| spawn());
        ordinary();
        applied
    }

    /// Changes the calling thread.
    fn apply(&self) -> Result<(), SchedulingError> {
        let before = present()?;
        let before = PREVIOUS.get_or_init(|| before);
        if !self.cpus.is_empty() {
            let mut wanted = CpuSet::new();
            for &cpu in &self.cpus {
                if cpu >= CpuSet::MAX_CPU || !before.cpus.is_set(cpu) {
                    return Err(SchedulingError::Cpu { cpu, allowed: shown(&before.cpus) });
                }
                wanted.set(cpu);
            }
            sched_setaffinity(None, &wanted).map_err(|error| SchedulingError::Affinity(error.into()))?;
        }
        if self.priority > 0 {
            self.set_priority().map_err(|reason| SchedulingError::Priority {
                priority: self.priority,
                limit: limit(Resource::Rtprio, ""),
                reason: described(&reason),
            })?;
        }
        Ok(())
    }

    fn set_priority(&self) -> Result<(), thread_priority::Error> {
        let fifo = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let priority = ThreadPriority::from_posix(ScheduleParams { sched_priority: self.priority.into() });
        set_thread_priority_and_policy(thread_native_id(), priority, fifo)
    }
}

/// Gives the calling thread the scheduling with which the process started: for work in the background that a
/// thread with a higher priority has started.
pub(super) fn ordinary() {
    let Some(before) = PREVIOUS.get() else { return };
    let priority = match before.policy {
        ThreadSchedulePolicy::Realtime(_) => ThreadPriority::from_posix(before.params),
        ThreadSchedulePolicy::Normal(_) => ThreadPriority::from_posix(ScheduleParams { sched_priority: NICE_0 }),
    };
    // A lower priority is always permitted. The first call also changes the niceness, which the second
    // restores.
    let done = set_thread_priority_and_policy(thread_native_id(), priority, before.policy);
    let nice = setpriority_process(None, before.nice);
    let cpus = sched_setaffinity(None, &before.cpus);
    if let (Err(error), ..) = (&done, &nice, &cpus) {
        tracing::debug!("a thread keeps its priority: {}", described(error));
    }
}

/// The scheduling of the calling thread.
fn present() -> Result<PreviousScheduling, SchedulingError> {
    let cpus = sched_getaffinity(None).map_err(|error| SchedulingError::Affinity(error.into()))?;
    let refused = |reason: thread_priority::Error| SchedulingError::Priority {
        priority: 0,
        limit: limit(Resource::Rtprio, ""),
        reason: described(&reason),
    };
    let (policy, params) = thread_schedule_policy_param(thread_native_id()).map_err(refused)?;
    Ok(PreviousScheduling { cpus, policy, params, nice: getpriority_process(None).unwrap_or(0) })
}

fn described(error: &thread_priority::Error) -> String {
    match error {
        thread_priority::Error::OS(code) => std::io::Error::from_raw_os_error(*code).to_string(),
        other => format!("{other:?}"),
    }
}

/// Whether a `limit` of locked memory holds for a process with this `status` in /proc: not with the
/// capability CAP_IPC_LOCK.
fn is_limited(limit: Option<u64>, status: &str) -> bool {
    const CAP_IPC_LOCK: u32 = 14;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    let exceeds = bits.is_some_and(|bits| bits >> CAP_IPC_LOCK & 1 == 1);
    limit.is_some() && !exceeds
}

/// The soft limit of this user.
fn limit(resource: Resource, unit: &str) -> String {
    let text = getrlimit(resource).current.map_or_else(|| "unlimited".to_owned(), |limit| format!("{limit} {unit}"));
    text.trim_end().to_owned()
}

fn shown(cpus: &CpuSet) -> String {
    let set = (0..CpuSet::MAX_CPU).filter(|&cpu| cpus.is_set(cpu)).map(|cpu| cpu.to_string());
    set.collect::<Vec<_>>().join(",")
}

/// Reads `2`, `2,3` and `2-5`, in any combination; nothing is the empty list.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut found = Vec::new();
    for part in text.split(',').map(str::trim).filter(|_| !text.trim().is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last >= CpuSet::MAX_CPU {
            return None;
        }
        found.extend(first..=last);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_read_as_by_taskset() {
        let cases: [(&str, Option<&[usize]>); 9] = [
            ("", Some(&[])),
            (" ", Some(&[])),
            ("2", Some(&[2])),
            ("0, 2-4", Some(&[0, 2, 3, 4])),
            ("4-2", None),
            ("1,", None),
            ("-1", None),
            ("two", None),
            ("99999999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(cpu_list(text).as_deref(), expected, "{text}");
        }
    }

    /// The capability is bit 14 of the effective set, of which the system gives the digits.
    #[test]
    fn a_limit_of_memory_holds_without_the_effective_capability() {
        let status = |permitted: u64, effective: u64| {
            format!("Name:\tn\nCapPrm:\t{permitted:016x}\nCapEff:\t{effective:016x}\n")
        };
        for text in [status(0, 1 << 14), status(0, 0x1ff_ffff_ffff)] {
            assert!(!is_limited(Some(1 << 40), &text), "{text}");
        }
        for text in [status(u64::MAX, !(1 << 14)), status(1 << 14, 0), String::new(), "CapEff:\tx".to_owned()] {
            assert!(is_limited(Some(1 << 40), &text) && !is_limited(None, &text), "{text}");
        }
    }

    #[test]
    fn priorities_are_whole_numbers_of_the_system() {
        assert!(Scheduling::new(50.0, "", false).is_ok());
        for wrong in [0.5, -1.0, 100.0, f64::NAN] {
            assert!(matches!(Scheduling::new(wrong, "", false), Err(SchedulingError::Fraction(_))), "{wrong}");
        }
    }

    /// A processor that does not exist is refused by name, and the thread keeps its processors.
    #[test]
    fn an_unknown_processor_is_named_with_those_that_there_are() {
        let before = sched_getaffinity(None).unwrap();
        let scheduling = Scheduling::new(0.0, "1000", false).unwrap();
        let error = scheduling.of_threads_from(|| ()).unwrap_err().to_string();
        assert!(error.contains("processor 1000") && error.contains(&shown(&before)), "{error}");
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }

    /// Threads that are started inherit the processors; the calling thread has its own again.
    #[test]
    fn started_threads_inherit_the_processors_and_the_caller_does_not() {
        let before = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).unwrap();
        let scheduling = Scheduling::new(0.0, &first.to_string(), false).unwrap();
        let started = scheduling.of_threads_from(|| {
            std::thread::spawn(|| {
                let inherited = sched_getaffinity(None).unwrap().count();
                ordinary();
                (inherited, sched_getaffinity(None).unwrap())
            })
        });
        let (inherited, restored) = started.unwrap().join().unwrap();
        assert_eq!(inherited, 1);
        assert_eq!((restored, sched_getaffinity(None).unwrap()), (before, before));
    }
}
