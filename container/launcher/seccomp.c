/*
 * Refuses the system calls of these lists and allows the others. Landlock restricts neither sockets
 * other than TCP, nor other processes, nor changes of a file's mode and times.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <asm/ioctls.h>
#include <asm/sockios.h>
#include <sched.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "syscalls.h"

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "The launcher knows the system calls of x86_64 and aarch64 only."
#endif

/* System calls of x86_64's x32 ABI start here; the numbers of aarch64 are all lower. */
#define X32_BIT 0x40000000u

#define UNSUPPORTED (SECCOMP_RET_ERRNO | EOPNOTSUPP)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)
#define NAMESPACE_FLAGS 0x7e020000u
/* The runner measures the open files of one thread, so all threads must share theirs. */
#define THREAD_FLAGS ((uint32_t)(CLONE_VM | CLONE_THREAD | CLONE_FILES))
#define PROTOCOL_TCP 6
#define UNNAMED_FILE ((uint32_t)(O_TMPFILE & ~O_DIRECTORY))

static void kill_foreign_calls(void);
static void allow_tcp_only(void);
static void allow_named_files_only(void);
static void allow_creation_without_set_id(void);
static void allow_harmless_fcntl(void);
static void refuse_signals_by_ioctl(void);
static void allow_threads_only(void);
static void refuse_namespaces(void);
static void allow_harmless_prctl(void);

#define REFUSE(numbers) refuse_all(numbers, sizeof numbers / sizeof *numbers)

bool has_seccomp(void) { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

void filter_syscalls(const struct order *order) {
  kill_foreign_calls();
  REFUSE(PROCESS_CALLS);
  REFUSE(KERNEL_CALLS);
  REFUSE(FILE_CALLS);
  REFUSE(SHARED_FILE_CALLS);
  REFUSE(SHARED_MEMORY_CALLS);
  REFUSE(SERVER_CALLS);
  if (order->tcp_port != 0) {
    allow_tcp_only();
  } else {
    REFUSE(NETWORK_CALLS);
  }
  if (order->may_fork) {
    refuse_namespaces();
  } else {
    REFUSE(FORK_CALLS);
    allow_threads_only();
    /* A process keeps its pid across execve, so that abort() still works. */
    refuse_argument_but(SYS_tgkill, 0, (uint32_t)getpid());
  }
  allow_named_files_only();
  allow_creation_without_set_id();
  allow_harmless_fcntl();
  refuse_signals_by_ioctl();
  allow_harmless_prctl();
  refuse_argument_but(SYS_prlimit64, 0, 0);
  /* Their arguments are in memory, which a filter cannot read; libraries use other calls then. */
  answer(SYS_clone3, UNKNOWN);
  answer(SYS_openat2, UNKNOWN);
  give(SECCOMP_RET_ALLOW);
  install_filter();
}

/* Other ABIs have other numbers, and calls newer than these lists were not reviewed. */
static void kill_foreign_calls(void) {
  struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  add(load);
  jump(BPF_JEQ, NATIVE_ARCHITECTURE, 1, 0);
  give(SECCOMP_RET_KILL_PROCESS);
  load_number();
  jump(BPF_JGE, X32_BIT, 0, 1);
  give(SECCOMP_RET_KILL_PROCESS);
  jump(BPF_JGT, NEWEST_KNOWN_CALL, 0, 1);
  give(UNKNOWN);
}

/*
 * Landlock restricts connect() of plain TCP to one port, but neither multipath TCP nor TCP Fast
 * Open.
 */
static void allow_tcp_only(void) {
  jump(BPF_JEQ, SYS_socket, 0, 11);
  load_argument(0);
  jump(BPF_JEQ, AF_INET, 1, 0);
  jump(BPF_JEQ, AF_INET6, 0, 6);
  load_argument(1);
  struct sock_filter without_flags = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 15);
  add(without_flags);
  jump(BPF_JEQ, SOCK_STREAM, 0, 3);
  load_argument(2);
  jump(BPF_JEQ, 0, 2, 0);
  jump(BPF_JEQ, PROTOCOL_TCP, 1, 0);
  give(REFUSED);
  load_number();
  refuse_argument_bits(SYS_sendto, 3, MSG_FASTOPEN);
  refuse_argument_bits(SYS_sendmsg, 2, MSG_FASTOPEN);
  refuse_argument_bits(SYS_sendmmsg, 3, MSG_FASTOPEN);
}

/* The runner cannot measure unnamed files; programs see a file system without support for them. */
static void allow_named_files_only(void) {
  answer_argument_bits(SYS_openat, 2, UNNAMED_FILE, UNSUPPORTED);
#ifdef SYS_open
  answer_argument_bits(SYS_open, 1, UNNAMED_FILE, UNSUPPORTED);
#endif
}

/* chmod is refused; creating a file with these bits would bypass that. */
static void allow_creation_without_set_id(void) {
  refuse_set_id(SYS_openat, 2, 3);
#ifdef SYS_open
  refuse_set_id(SYS_open, 1, 2);
  refuse_argument_bits(SYS_creat, 1, SET_ID_BITS);
#endif
}

/*
 * Of fcntl, what concerns descriptors alone. Other commands have a file's notifications sent as any
 * signal to any process of the same user, which Landlock restricts only from version 6 on; or they
 * lock, lease or mark a file, which tools of other tasks see on the libraries that all may read.
 */
static void allow_harmless_fcntl(void) {
  const uint32_t harmless[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL};
  allow_argument_values(SYS_fcntl, 1, harmless, sizeof harmless / sizeof *harmless);
  jump(BPF_JEQ, SYS_fcntl, 0, 6);
  load_argument(1);
  jump(BPF_JEQ, F_SETFL, 0, 3);
  load_argument(2);
  jump(BPF_JSET, O_ASYNC, 0, 1);
  give(REFUSED);
  load_number();
}

static void refuse_signals_by_ioctl(void) {
  const uint32_t requests[] = {FIOSETOWN, SIOCSPGRP, FIOASYNC};
  refuse_argument_values(SYS_ioctl, 1, requests, sizeof requests / sizeof *requests);
}

static void allow_threads_only(void) {
  jump(BPF_JEQ, SYS_clone, 0, 6);
  load_argument(0);
  jump(BPF_JSET, NAMESPACE_FLAGS, 2, 0);
  struct sock_filter mask = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, THREAD_FLAGS);
  add(mask);
  jump(BPF_JEQ, THREAD_FLAGS, 1, 0);
  give(REFUSED);
  load_number();
}

static void refuse_namespaces(void) { refuse_argument_bits(SYS_clone, 0, NAMESPACE_FLAGS); }

/* Other options would outlive the runner, expose the process, or reach rarely used kernel code. */
static void allow_harmless_prctl(void) {
  const uint32_t harmless[] = {PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_GET_DUMPABLE,
                               PR_SET_VMA_NAME};
  allow_argument_values(SYS_prctl, 0, harmless, sizeof harmless / sizeof *harmless);
}
