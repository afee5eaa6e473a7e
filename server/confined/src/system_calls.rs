//! The few system calls that a worker process may make. See seccomp(2).

use std::{collections::BTreeMap, io};

use seccompiler::{SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule};

/// Error number that a refused call returns.
const NOT_PERMITTED: u32 = libc::EPERM.unsigned_abs();

/// Irrevocably refuses everything except reading standard input, writing standard output and error, and allocating
/// memory for data. Inherited file descriptors are therefore useless as well.
pub(super) fn restrict() -> io::Result<()> {
    filter()
        .and_then(seccompiler::BpfProgram::try_from)
        .map_err(seccompiler::Error::from)
        .and_then(|program| seccompiler::apply_filter(&program))
        .map_err(|error| io::Error::other(format!("system calls cannot be restricted: {error}")))
}

fn filter() -> Result<SeccompFilter, seccompiler::BackendError> {
    let own = u64::from(std::process::id());
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::from(ALWAYS.map(|call| (call, Vec::new())));
    for (call, conditions) in [
        (libc::SYS_read, vec![equals(0, 0)?]),
        (libc::SYS_write, vec![equals(0, 1)?]),
        (libc::SYS_write, vec![equals(0, 2)?]),
        // Anonymous memory that is not executable.
        (
            libc::SYS_mmap,
            vec![equals(4, u64::from(u32::MAX))?, lacks(2, libc::PROT_EXEC)?],
        ),
        (libc::SYS_mprotect, vec![lacks(2, libc::PROT_EXEC)?]),
        // The process's own limit on processor time.
        (
            libc::SYS_prlimit64,
            vec![equals(0, 0)?, equals(1, u64::from(libc::RLIMIT_CPU))?],
        ),
        // `abort`, by which a process that is out of memory ends itself.
        (
            libc::SYS_tgkill,
            vec![equals(0, own)?, equals(2, u64::from(libc::SIGABRT.unsigned_abs()))?],
        ),
    ] {
        rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
    }
    SeccompFilter::new(
        rules,
        SeccompAction::Errno(NOT_PERMITTED),
        SeccompAction::Allow,
        std::env::consts::ARCH.try_into()?,
    )
}

/// Harmless calls, allowed with any arguments.
const ALWAYS: [i64; 16] = [
    // Memory.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_mremap,
    libc::SYS_munmap,
    // Locks, one for each value that is initialized once.
    libc::SYS_futex,
    // Keys of hash tables.
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    // Exit, and termination by a signal.
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_restart_syscall,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
];

fn equals(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, Dword, SeccompCmpOp::Eq, value)
}

fn lacks(argument: u8, flag: i32) -> Result<SeccompCondition, seccompiler::BackendError> {
    let mask = u64::from(flag.unsigned_abs());
    SeccompCondition::new(argument, Dword, SeccompCmpOp::MaskedEq(mask), 0)
}
