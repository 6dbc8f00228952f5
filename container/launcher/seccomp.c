/*
 * Which system calls the tool may make: everything but these lists. Landlock does not see sockets
 * other than TCP, other processes, nor what changes a file's rights and times.
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

#include "syscalls.h"

#if defined(__x86_64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "The launcher knows the system calls of x86_64 and aarch64 only."
#endif

/* Numbers of the x32 variant of x86_64 begin here; none of aarch64 comes near. */
#define X32_BIT 0x40000000u

#define STEPS_MAX 1024
#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define UNSUPPORTED (SECCOMP_RET_ERRNO | EOPNOTSUPP)
#define UNKNOWN (SECCOMP_RET_ERRNO | ENOSYS)
#define SET_ID_BITS 06000u
#define NAMESPACE_FLAGS 0x7e020000u
/* The watch over files counts those of one thread, and a thread may not have others. */
#define THREAD_FLAGS ((uint32_t)(CLONE_VM | CLONE_THREAD | CLONE_FILES))
#define PROTOCOL_TCP 6
#define UNNAMED_FILE ((uint32_t)(O_TMPFILE & ~O_DIRECTORY))

static struct sock_filter steps[STEPS_MAX];
static unsigned short step_count;

static void kill_foreign_calls(void);
static void refuse_all(const int *numbers, size_t count);
static void allow_tcp_only(void);
static void allow_named_files_only(void);
static void allow_creation_without_set_id(void);
static void refuse_signals_by_file(void);
static void allow_threads_only(void);
static void refuse_namespaces(void);
static void allow_harmless_prctl(void);
static void refuse_argument_but(int number, int index, uint32_t value);
static void refuse_argument_values(int number, int index, const uint32_t *values, uint8_t count);
static void refuse_argument_bits(int number, int index, uint32_t bits);
static void answer_argument_bits(int number, int index, uint32_t bits, uint32_t action);
static void refuse_set_id(int number, int flags_index, int mode_index);
static void answer(int number, uint32_t action);
static void load_number(void);
static void load_argument(int index);
static void jump(uint16_t test, uint32_t value, uint8_t if_true, uint8_t if_false);
static void give(uint32_t action);
static void add(struct sock_filter step);

#define REFUSE(numbers) refuse_all(numbers, sizeof numbers / sizeof *numbers)

bool has_seccomp(void) { return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0; }

void filter_syscalls(const struct order *order) {
  kill_foreign_calls();
  REFUSE(PROCESS_CALLS);
  REFUSE(KERNEL_CALLS);
  REFUSE(FILE_CALLS);
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
    /* A process keeps its number over execve, so that abort() still works. */
    refuse_argument_but(SYS_tgkill, 0, (uint32_t)getpid());
  }
  allow_named_files_only();
  allow_creation_without_set_id();
  refuse_signals_by_file();
  allow_harmless_prctl();
  refuse_argument_but(SYS_prlimit64, 0, 0);
  /* Their arguments lie in memory, which a filter cannot read; libraries fall back to others. */
  answer(SYS_clone3, UNKNOWN);
  answer(SYS_openat2, UNKNOWN);
  give(SECCOMP_RET_ALLOW);
  struct sock_fprog program = {step_count, steps};
  if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
    fail("seccomp");
}

/* Other calling conventions have other numbers; calls newer than this list are not known yet. */
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

static void refuse_all(const int *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) answer(numbers[i], REFUSED);
}

/*
 * Landlock limits connect() of plain TCP to one port, and sees neither multipath TCP nor a
 * connection that is opened by its first bytes.
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

/* Nobody sees how much a file without a name holds; programs take this as the file system's lack. */
static void allow_named_files_only(void) {
  answer_argument_bits(SYS_openat, 2, UNNAMED_FILE, UNSUPPORTED);
#ifdef SYS_open
  answer_argument_bits(SYS_open, 1, UNNAMED_FILE, UNSUPPORTED);
#endif
}

/* chmod is refused; a file that is born with these bits would be a way around. */
static void allow_creation_without_set_id(void) {
  refuse_set_id(SYS_openat, 2, 3);
  refuse_argument_bits(SYS_mkdirat, 2, SET_ID_BITS);
#ifdef SYS_open
  refuse_set_id(SYS_open, 1, 2);
  refuse_argument_bits(SYS_creat, 1, SET_ID_BITS);
  refuse_argument_bits(SYS_mkdir, 1, SET_ID_BITS);
#endif
}

/*
 * What a file has to tell goes as a signal, of any number, to any process of the same user, which
 * Landlock does not see before its sixth version.
 */
static void refuse_signals_by_file(void) {
  const uint32_t commands[] = {F_SETOWN, F_SETSIG, F_SETOWN_EX, F_NOTIFY};
  const uint32_t requests[] = {FIOSETOWN, SIOCSPGRP, FIOASYNC};
  refuse_argument_values(SYS_fcntl, 1, commands, sizeof commands / sizeof *commands);
  refuse_argument_values(SYS_ioctl, 1, requests, sizeof requests / sizeof *requests);
  jump(BPF_JEQ, SYS_fcntl, 0, 6);
  load_argument(1);
  jump(BPF_JEQ, F_SETFL, 0, 3);
  load_argument(2);
  jump(BPF_JSET, O_ASYNC, 0, 1);
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

static void refuse_namespaces(void) { refuse_argument_bits(SYS_clone, 0, NAMESPACE_FLAGS); }

/* Others would outlive the runner, open the process to others, or reach rare corners of the kernel. */
static void allow_harmless_prctl(void) {
  const uint32_t harmless[] = {PR_SET_NAME, PR_GET_NAME, PR_CAPBSET_READ, PR_GET_DUMPABLE,
                               PR_SET_VMA_NAME};
  const uint8_t count = sizeof harmless / sizeof *harmless;
  jump(BPF_JEQ, SYS_prctl, 0, count + 3);
  load_argument(0);
  for (uint8_t i = 0; i < count; i++) jump(BPF_JEQ, harmless[i], count - i, 0);
  give(REFUSED);
  load_number();
}

/* A call's argument is looked at by its lower half, which is all that these calls read. */
static void refuse_argument_but(int number, int index, uint32_t value) {
  jump(BPF_JEQ, (uint32_t)number, 0, 4);
  load_argument(index);
  jump(BPF_JEQ, value, 1, 0);
  give(REFUSED);
  load_number();
}

static void refuse_argument_values(int number, int index, const uint32_t *values, uint8_t count) {
  jump(BPF_JEQ, (uint32_t)number, 0, count + 3);
  load_argument(index);
  for (uint8_t i = 1; i < count; i++) jump(BPF_JEQ, values[i], count - i, 0);
  jump(BPF_JEQ, values[0], 0, 1);
  give(REFUSED);
  load_number();
}

static void refuse_argument_bits(int number, int index, uint32_t bits) {
  answer_argument_bits(number, index, bits, REFUSED);
}

static void answer_argument_bits(int number, int index, uint32_t bits, uint32_t action) {
  jump(BPF_JEQ, (uint32_t)number, 0, 4);
  load_argument(index);
  jump(BPF_JSET, bits, 0, 1);
  give(action);
  load_number();
}

/* Without the flag that creates, the mode is whatever the register held before. */
static void refuse_set_id(int number, int flags_index, int mode_index) {
  jump(BPF_JEQ, (uint32_t)number, 0, 6);
  load_argument(flags_index);
  jump(BPF_JSET, O_CREAT, 0, 3);
  load_argument(mode_index);
  jump(BPF_JSET, SET_ID_BITS, 0, 1);
  give(REFUSED);
  load_number();
}

static void answer(int number, uint32_t action) {
  jump(BPF_JEQ, (uint32_t)number, 0, 1);
  give(action);
}

static void load_number(void) {
  struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  add(load);
}

static void load_argument(int index) {
  uint32_t place = (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)index);
  struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place);
  add(load);
}

static void jump(uint16_t test, uint32_t value, uint8_t if_true, uint8_t if_false) {
  struct sock_filter step = BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), value, if_true, if_false);
  add(step);
}

static void give(uint32_t action) {
  struct sock_filter step = BPF_STMT(BPF_RET | BPF_K, action);
  add(step);
}

static void add(struct sock_filter step) {
  if (step_count >= STEPS_MAX) fail_with(E2BIG, "seccomp");
  steps[step_count++] = step;
}
