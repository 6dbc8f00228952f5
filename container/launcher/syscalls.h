/*
 * Lists of refused system calls. From 424 on, a number is the same on all architectures; such
 * numbers are literals, since system headers are often older than the kernel.
 */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <sys/syscall.h>

/* Number of mseal(), the newest system call that was reviewed for these lists. */
#define NEWEST_KNOWN_CALL 462

/* PR_SET_VMA, by which some allocators name anonymous memory. */
#define PR_SET_VMA_NAME 0x53564d41

#undef SYS_openat2
#define SYS_openat2 437
#undef SYS_clone3
#define SYS_clone3 435
#undef SYS_close_range
#define SYS_close_range 436

/*
 * Calls that read or control other processes, leave the process group, or raise the own priority.
 */
static const int PROCESS_CALLS[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_kcmp, SYS_setpriority, SYS_ioprio_set, SYS_sched_setscheduler,
    SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setaffinity, SYS_setpgid, SYS_setsid,
    SYS_move_pages, SYS_migrate_pages,
    424 /* pidfd_send_signal */, 434 /* pidfd_open */, 438 /* pidfd_getfd */,
    440 /* process_madvise */, 448 /* process_mrelease */,
};

/* Calls that send signals to any process of the user. */
static const int SIGNAL_CALLS[] = {SYS_kill, SYS_tkill};

/*
 * Calls on namespaces, mounts and user ids, and on parts of the kernel that media tools do not
 * need.
 */
static const int KERNEL_CALLS[] = {
    SYS_unshare, SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
    428 /* open_tree */, 429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */,
    432 /* fsmount */, 433 /* fspick */, 442 /* mount_setattr */, 443 /* quotactl_fd */,
    457 /* statmount */, 458 /* listmount */,
    SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid, SYS_setreuid, SYS_setregid,
    SYS_setgroups, SYS_setfsuid, SYS_setfsgid, SYS_capset, SYS_personality, SYS_seccomp,
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key,
    425 /* io_uring_setup */, 426 /* io_uring_enter */, 427 /* io_uring_register */,
    SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,
    SYS_syslog, SYS_acct, SYS_quotactl, SYS_swapon, SYS_swapoff, SYS_sethostname,
    SYS_setdomainname, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    SYS_vhangup, SYS_lookup_dcookie, SYS_vmsplice,
    447 /* memfd_secret */, 453 /* map_shadow_stack */,
    459 /* lsm_get_self_attr */, 460 /* lsm_set_self_attr */, 461 /* lsm_list_modules */,
#ifdef SYS_kexec_file_load
    SYS_kexec_file_load,
#endif
#ifdef __x86_64__
    SYS_modify_ldt, SYS_iopl, SYS_ioperm, SYS_uselib, SYS_ustat, SYS_sysfs,
#endif
};

/*
 * Calls on files that Landlock does not restrict: on modes, owners, times and attributes, on
 * lengths of files outside the workspace, on file handles and watches, and on programs in memory.
 * Calls that create folders, links and devices are refused here too, although Landlock restricts
 * them, since the runner measures and opens the entries of the workspace.
 */
static const int FILE_CALLS[] = {
    SYS_fchmod, SYS_fchmodat, 452 /* fchmodat2 */, SYS_fchown, SYS_fchownat,
    SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr,
    SYS_fremovexattr, SYS_getxattr, SYS_lgetxattr, SYS_listxattr, SYS_llistxattr,
    SYS_utimensat, SYS_truncate, SYS_mkdirat, SYS_linkat, SYS_symlinkat, SYS_mknodat,
    SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_fanotify_init, SYS_fanotify_mark,
    SYS_inotify_init1, SYS_inotify_add_watch, SYS_memfd_create, SYS_execveat,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_mkdir,
    SYS_link, SYS_symlink, SYS_mknod, SYS_inotify_init,
#endif
};

/*
 * Calls on the state of a file that other processes can observe. Tools of different tasks open the
 * same libraries.
 */
static const int SHARED_FILE_CALLS[] = {
    SYS_flock, 451 /* cachestat */,
};

/*
 * Calls on System V and POSIX shared memory, semaphores and message queues, which outlive a process
 * and have no path.
 */
static const int SHARED_MEMORY_CALLS[] = {
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
    SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink,
};

/* Calls that make a socket accept connections, or that create socket pairs. */
static const int SERVER_CALLS[] = {
    SYS_socketpair, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
};

/*
 * Calls on sockets of every family, including local sockets. The standard streams of a tool are
 * sockets too, and their options (SO_PEERPIDFD, SO_PEERCRED) would reveal the process at the other
 * end.
 */
static const int NETWORK_CALLS[] = {
    SYS_socket, SYS_connect, SYS_setsockopt, SYS_getsockopt, SYS_sendto, SYS_recvfrom, SYS_recvmsg,
};

/*
 * Calls on messages, which TCP connections do not need. A message can carry descriptors, and a
 * deleted file inside a message takes disk space that the runner cannot measure.
 */
static const int MESSAGE_CALLS[] = {SYS_sendmsg, SYS_sendmmsg, SYS_recvmmsg};

/*
 * Calls that execute a program. A held tool does not need these calls, because it is already
 * loaded.
 */
static const int EXECUTE_CALLS[] = {SYS_execve, SYS_execveat};

/*
 * Calls that create a process. aarch64 has only clone(), so the list is empty there except for -1,
 * no call.
 */
static const int FORK_CALLS[] = {
    -1,
#ifdef __x86_64__
    SYS_fork, SYS_vfork,
#endif
};

#endif
