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
/* The call is not made, and the program is told that it succeeded. */
#define PRETENDED (SECCOMP_RET_ERRNO | 0)
#define CLOSE_RANGE_UNSHARE_BIT 2u
/* The kind of an ioctl, and the one of all that concern sockets and network devices. */
#define IOCTL_KIND 0xff00u
#define SOCKET_IOCTL 0x8900u
/* The flag of renameat2 that leaves a device in the place of the file. */
#define WHITEOUT_BIT 4u
#define UNNAMED_FILE ((uint32_t)(O_TMPFILE & ~O_DIRECTORY))

static void kill_foreign_calls(void);
static void hold_tcp_only(void);
static void pretend_to_connect(void);
static void allow_named_files_only(void);
static void allow_creation_without_set_id(void);
static void allow_harmless_fcntl(void);
static void refuse_signals_by_ioctl(void);
static void allow_threads_only(void);
static void allow_own_processes(bool is_mounted);
static void allow_signals_within_namespace(int number);
static void allow_harmless_prctl(void);

#define REFUSE(numbers) refuse_all(numbers, sizeof numbers / sizeof *numbers)

bool has_seccomp(void) { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

/*
 * The first of two filters has the broker answer calls of socket(). It alone leaves sendmsg() for
 * handing over its listener.
 */
int hold_sockets(void) {
  kill_foreign_calls();
  hold_tcp_only();
  give(SECCOMP_RET_ALLOW);
  return install_listening_filter();
}

void filter_syscalls(const struct order *order, bool has_network) {
  kill_foreign_calls();
  REFUSE(PROCESS_CALLS);
  REFUSE(KERNEL_CALLS);
  REFUSE(FILE_CALLS);
  REFUSE(SHARED_FILE_CALLS);
  REFUSE(SHARED_MEMORY_CALLS);
  REFUSE(SERVER_CALLS);
  REFUSE(MESSAGE_CALLS);
  if (has_network) {
    pretend_to_connect();
  } else {
    REFUSE(NETWORK_CALLS);
  }
  if (order->is_held) REFUSE(EXECUTE_CALLS);
  /* It takes the right to execute from what the tool creates. */
  if (order->is_mounted) answer(SYS_umask, REFUSED);
  if (order->may_fork) {
    allow_own_processes(order->is_mounted);
  } else {
    REFUSE(FORK_CALLS);
    REFUSE(SIGNAL_CALLS);
    allow_threads_only();
    /* A process keeps its pid across execve, so that abort() still works. */
    refuse_argument_but(SYS_tgkill, 0, (uint32_t)getpid());
  }
  refuse_argument_bits(SYS_close_range, 2, CLOSE_RANGE_UNSHARE_BIT);
  refuse_argument_bits(SYS_renameat2, 4, WHITEOUT_BIT);
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

/* Neither datagrams nor multipath TCP. */
static void hold_tcp_only(void) {
  jump(BPF_JEQ, SYS_socket, 0, 11);
  load_argument(0);
  jump(BPF_JEQ, AF_INET, 1, 0);
  jump(BPF_JEQ, AF_INET6, 0, 6);
  load_argument(1);
  struct sock_filter without_flags =
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~(uint32_t)(SOCK_NONBLOCK | SOCK_CLOEXEC));
  add(without_flags);
  jump(BPF_JEQ, SOCK_STREAM, 0, 3);
  load_argument(2);
  jump(BPF_JEQ, 0, 2, 0);
  jump(BPF_JEQ, PROTOCOL_TCP, 1, 0);
  give(REFUSED);
  give(SECCOMP_RET_USER_NOTIF);
}

/*
 * The socket is connected already, and of a family without the options of TCP, for lack of which
 * programs give up. Of the other options the tool reads none that tells who is at the other end.
 */
static void pretend_to_connect(void) {
  const uint32_t harmless[] = {SO_TYPE, SO_ERROR, SO_SNDBUF, SO_RCVBUF, SO_PROTOCOL, SO_DOMAIN};
  answer(SYS_connect, PRETENDED);
  answer(SYS_setsockopt, PRETENDED);
  allow_argument_values(SYS_getsockopt, 2, harmless, sizeof harmless / sizeof *harmless);
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

/* By ioctl of sockets a file also signals others, and a tool finds out about the network. */
static void refuse_signals_by_ioctl(void) {
  jump(BPF_JEQ, SYS_ioctl, 0, 6);
  load_argument(1);
  jump(BPF_JEQ, FIOASYNC, 2, 0);
  struct sock_filter mask = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, IOCTL_KIND);
  add(mask);
  jump(BPF_JEQ, SOCKET_IOCTL, 0, 1);
  give(REFUSED);
  load_number();
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

/*
 * All processes stay below the tool, and all threads of one share their open files, so that the
 * runner measures what they hold. They signal each other where Landlock keeps their signals inside, or
 * a namespace does, which has no others.
 */
static void allow_own_processes(bool is_mounted) {
  jump(BPF_JEQ, SYS_clone, 0, 6);
  load_argument(0);
  jump(BPF_JSET, NAMESPACE_FLAGS | CLONE_PARENT, 2, 0);
  jump(BPF_JSET, CLONE_THREAD, 0, 2);
  jump(BPF_JSET, CLONE_FILES, 1, 0);
  give(REFUSED);
  load_number();
  if (is_mounted) {
    allow_signals_within_namespace(SYS_kill);
    allow_signals_within_namespace(SYS_tkill);
    allow_signals_within_namespace(SYS_tgkill);
    return;
  }
  if (restricts_signals()) return;
  REFUSE(SIGNAL_CALLS);
  answer(SYS_tgkill, REFUSED);
}

/* To one process or thread by its id; neither to bubblewrap, the first one there, nor to groups. */
static void allow_signals_within_namespace(int number) {
  jump(BPF_JEQ, (uint32_t)number, 0, 5);
  load_argument(0);
  jump(BPF_JGT, INT32_MAX, 1, 0);
  jump(BPF_JGT, 1, 1, 0);
  give(REFUSED);
  load_number();
}

/* Other options would outlive the runner, expose the process, or reach rarely used kernel code. */
static void allow_harmless_prctl(void) {
  const uint32_t harmless[] = {PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_GET_DUMPABLE,
                               PR_SET_VMA_NAME};
  allow_argument_values(SYS_prctl, 0, harmless, sizeof harmless / sizeof *harmless);
}
