/*
 * The refused system calls, by what they reach. From 424 on numbers are the same on all machines;
 * they are written as literals, since headers are often older than the kernel.
 */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <sys/syscall.h>

/* mseal, the latest call that was reviewed for these lists. */
#define NEWEST_KNOWN_CALL 462

/* PR_SET_VMA: names anonymous memory, which some allocators do. */
#define PR_SET_VMA_NAME 0x53564d41

#undef SYS_openat2
#define SYS_openat2 437
#undef SYS_clone3
#define SYS_clone3 435
#undef SYS_close_range
#define SYS_close_range 436

/* Other processes: reading, controlling and outliving them, or raising one's own priority. */
static const int PROCESS_CALLS[] = {
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_kcmp, SYS_setpriority, SYS_ioprio_set, SYS_sched_setscheduler,
    SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setaffinity, SYS_setpgid, SYS_setsid,
    SYS_move_pages, SYS_migrate_pages,
    424 /* pidfd_send_signal */, 434 /* pidfd_open */, 438 /* pidfd_getfd */,
    440 /* process_madvise */, 448 /* process_mrelease */,
};

/* Signals to other processes than the tool's own. */
static const int SIGNAL_CALLS[] = {SYS_kill, SYS_tkill};

/* Namespaces, mounts, identities, and parts of the kernel that media tools do not need. */
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
 * Operations on paths that Landlock does not restrict: modes, owners, times, attributes and lengths
 * of files outside, handles, watches, and programs without a file. Landlock does restrict folders,
 * links and devices; they are refused here too, since the runner measures and opens what is in the
 * workspace.
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

/* State of a file that all see who open it: two tools of different tasks open the same libraries. */
static const int SHARED_FILE_CALLS[] = {
    SYS_flock, 451 /* cachestat */,
};

/* System V and POSIX memory and messages, which outlive a process and have no path. */
static const int SHARED_MEMORY_CALLS[] = {
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
    SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open, SYS_mq_unlink,
};

/* Sockets that accept connections, and socket pairs. */
static const int SERVER_CALLS[] = {
    SYS_socketpair, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
};

/*
 * Sockets of every family, the machine's own included. The standard streams of a tool are sockets too,
 * and an option of a socket (SO_PEERPIDFD, SO_PEERCRED) gives its reader the process at the other end.
 */
static const int NETWORK_CALLS[] = {
    SYS_socket, SYS_connect, SYS_setsockopt, SYS_getsockopt, SYS_sendto, SYS_recvfrom, SYS_recvmsg,
};

/*
 * What no connection needs. A message can carry descriptors, and a deleted file that is on its way
 * in one takes disk space that the runner does not see.
 */
static const int MESSAGE_CALLS[] = {SYS_sendmsg, SYS_sendmmsg, SYS_recvmmsg};

/* Programs, for a tool that is in its process already. */
static const int EXECUTE_CALLS[] = {SYS_execve, SYS_execveat};

/* On aarch64 there is only clone. */
static const int FORK_CALLS[] = {
    -1,
#ifdef __x86_64__
    SYS_fork, SYS_vfork,
#endif
};

#endif
