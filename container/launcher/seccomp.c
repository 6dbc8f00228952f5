/*
 * Refuses the system calls in syscalls.h and allows the others. Complements Landlock, which
 * restricts neither sockets other than TCP, nor access to other processes, nor changes of a file's
 * mode and times.
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

#include "seccomp-filter.h"
#include "syscalls.h"

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "The launcher knows the system calls of x86_64 and aarch64 only."
#endif

/* Lowest number of a system call in the x32 ABI of x86_64; all numbers of aarch64 are lower. */
#define X32_BIT 0x40000000u

#define UNSUPPORTED (SECCOMP_RET_ERRNO | EOPNOTSUPP)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)
#define NAMESPACE_FLAGS 0x7e020000u
/*
 * Flags that every new thread must have. The threads of a process must share their open files,
 * since the runner measures the open files of only one thread.
 */
#define THREAD_FLAGS ((uint32_t)(CLONE_VM | CLONE_THREAD | CLONE_FILES))
#define PROTOCOL_TCP 6
/* The kernel skips the call and reports success to the program. */
#define PRETENDED (SECCOMP_RET_ERRNO | 0)
#define CLOSE_RANGE_UNSHARE_BIT 2u
/*
 * Bits of an ioctl number that identify the group of the ioctl, and the value of these bits for
 * sockets and network devices.
 */
#define IOCTL_KIND 0xff00u
#define SOCKET_IOCTL 0x8900u
/* Flag of renameat2() that leaves a device in place of the renamed file. */
#define WHITEOUT_BIT 4u
#define UNNAMED_FILE ((uint32_t)(O_TMPFILE & ~O_DIRECTORY))

static void kill_foreign_calls(void);
static void suspend_tcp_sockets_only(void);
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
 * Installs the first of two filters, which suspends calls of socket() until the broker answers
 * them, and returns its listener. The second filter refuses sendmsg(), by which the listener is
 * passed to the broker.
 */
int suspend_socket_calls(void) {
  kill_foreign_calls();
  suspend_tcp_sockets_only();
  return_action(SECCOMP_RET_ALLOW);
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
  /*
   * The umask removes the execute right from new files of the tool, so the tool must not change the
   * umask.
   */
  if (order->is_mounted) answer_call(SYS_umask, REFUSED);
  if (order->may_fork) {
    allow_own_processes(order->is_mounted);
  } else {
    REFUSE(FORK_CALLS);
    REFUSE(SIGNAL_CALLS);
    allow_threads_only();
    /*
     * Allows signals to the process itself, as abort() needs them; execve() does not change the
     * process id.
     */
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
  /*
   * A filter cannot check these calls, because their arguments are in memory. On ENOSYS, libraries
   * use other calls instead.
   */
  answer_call(SYS_clone3, UNKNOWN);
  answer_call(SYS_openat2, UNKNOWN);
  return_action(SECCOMP_RET_ALLOW);
  install_filter();
}

/*
 * Kills a process that makes system calls of another ABI, whose numbers differ. Answers ENOSYS to
 * calls that are newer than the lists in syscalls.h.
 */
static void kill_foreign_calls(void) {
  struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  add(load);
  jump(BPF_JEQ, NATIVE_ARCHITECTURE, 1, 0);
  return_action(SECCOMP_RET_KILL_PROCESS);
  load_number();
  jump(BPF_JGE, X32_BIT, 0, 1);
  return_action(SECCOMP_RET_KILL_PROCESS);
  jump(BPF_JGT, NEWEST_KNOWN_CALL, 0, 1);
  return_action(UNKNOWN);
}

/*
 * Suspends socket() calls for TCP until the broker answers them, and refuses all others, such as
 * UDP and multipath TCP.
 */
static void suspend_tcp_sockets_only(void) {
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
  return_action(REFUSED);
  return_action(SECCOMP_RET_USER_NOTIF);
}

/*
 * Makes connect() succeed without effect, since the broker's socket is already connected.
 * setsockopt() succeeds too, because programs set TCP options that a UNIX socket lacks. The tool
 * may read only options that do not reveal the peer.
 */
static void pretend_to_connect(void) {
  const uint32_t harmless[] = {SO_TYPE, SO_ERROR, SO_SNDBUF, SO_RCVBUF, SO_PROTOCOL, SO_DOMAIN};
  answer_call(SYS_connect, PRETENDED);
  answer_call(SYS_setsockopt, PRETENDED);
  allow_argument_values(SYS_getsockopt, 2, harmless, sizeof harmless / sizeof *harmless);
}

/*
 * Refuses unnamed temporary files (O_TMPFILE), which the runner cannot measure. Programs see a file
 * system that does not support such files.
 */
static void allow_named_files_only(void) {
  answer_argument_bits(SYS_openat, 2, UNNAMED_FILE, UNSUPPORTED);
#ifdef SYS_open
  answer_argument_bits(SYS_open, 1, UNNAMED_FILE, UNSUPPORTED);
#endif
}

/*
 * Refuses to create files with set-user-id or set-group-id bits, which would bypass the refusal of
 * chmod().
 */
static void allow_creation_without_set_id(void) {
  refuse_set_id(SYS_openat, 2, 3);
#ifdef SYS_open
  refuse_set_id(SYS_open, 1, 2);
  refuse_argument_bits(SYS_creat, 1, SET_ID_BITS);
#endif
}

/*
 * Allows only fcntl commands that concern descriptors. Some other commands make the kernel send
 * signals to any process of the same user, which Landlock prevents only since ABI version 6. Other
 * commands lock, lease or mark a file, which tools of other tasks could observe on shared
 * libraries.
 */
static void allow_harmless_fcntl(void) {
  const uint32_t harmless[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL};
  allow_argument_values(SYS_fcntl, 1, harmless, sizeof harmless / sizeof *harmless);
  jump(BPF_JEQ, SYS_fcntl, 0, 6);
  load_argument(1);
  jump(BPF_JEQ, F_SETFL, 0, 3);
  load_argument(2);
  jump(BPF_JSET, O_ASYNC, 0, 1);
  return_action(REFUSED);
  load_number();
}

/*
 * Refuses ioctls that make the kernel signal other processes, and ioctls of sockets, which reveal
 * network devices.
 */
static void refuse_signals_by_ioctl(void) {
  jump(BPF_JEQ, SYS_ioctl, 0, 6);
  load_argument(1);
  jump(BPF_JEQ, FIOASYNC, 2, 0);
  struct sock_filter mask = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, IOCTL_KIND);
  add(mask);
  jump(BPF_JEQ, SOCKET_IOCTL, 0, 1);
  return_action(REFUSED);
  load_number();
}

static void allow_threads_only(void) {
  jump(BPF_JEQ, SYS_clone, 0, 6);
  load_argument(0);
  jump(BPF_JSET, NAMESPACE_FLAGS, 2, 0);
  struct sock_filter mask = BPF_STMT(BPF_ALU | BPF_AND | BPF_K, THREAD_FLAGS);
  add(mask);
  jump(BPF_JEQ, THREAD_FLAGS, 1, 0);
  return_action(REFUSED);
  load_number();
}

/*
 * Allows new processes only as descendants of the tool, and threads only if they share their open
 * files, so that the runner can measure all of them. Processes of the tool may signal each other
 * only if Landlock or a process namespace keeps signals from other processes.
 */
static void allow_own_processes(bool is_mounted) {
  jump(BPF_JEQ, SYS_clone, 0, 6);
  load_argument(0);
  jump(BPF_JSET, NAMESPACE_FLAGS | CLONE_PARENT, 2, 0);
  jump(BPF_JSET, CLONE_THREAD, 0, 2);
  jump(BPF_JSET, CLONE_FILES, 1, 0);
  return_action(REFUSED);
  load_number();
  if (is_mounted) {
    allow_signals_within_namespace(SYS_kill);
    allow_signals_within_namespace(SYS_tkill);
    allow_signals_within_namespace(SYS_tgkill);
    return;
  }
  if (restricts_signals()) return;
  REFUSE(SIGNAL_CALLS);
  answer_call(SYS_tgkill, REFUSED);
}

/*
 * Allows signals to a process or thread by its id. Refuses signals to process groups, and to
 * bubblewrap, the first process of the namespace.
 */
static void allow_signals_within_namespace(int number) {
  jump(BPF_JEQ, (uint32_t)number, 0, 5);
  load_argument(0);
  jump(BPF_JGT, INT32_MAX, 1, 0);
  jump(BPF_JGT, 1, 1, 0);
  return_action(REFUSED);
  load_number();
}

/*
 * Refuses other options of prctl(), with which a process could outlive the runner, expose itself,
 * or reach rarely used kernel code.
 */
static void allow_harmless_prctl(void) {
  const uint32_t harmless[] = {PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_GET_DUMPABLE,
                               PR_SET_VMA_NAME};
  allow_argument_values(SYS_prctl, 0, harmless, sizeof harmless / sizeof *harmless);
}
