/*
 * Attempts to leave the sandbox by sockets other than TCP, and by other operations on sockets and
 * processes.
 */
#define _GNU_SOURCE
#include "network-attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#define PEER_PIDFD 77
#define NEIGHBOURS 20

enum outcome sends_datagram(void) {
  struct sockaddr_storage to;
  socklen_t size = address_of(&to, words[FIRST_ADDRESS], udp_port());
  int made = socket(to.ss_family, SOCK_DGRAM, 0);
  if (made < 0) return REFUSED;
  return sendto(made, "x", 1, 0, (struct sockaddr *)&to, size) < 0 ? REFUSED : ALLOWED;
}

enum outcome connects_to_path(void) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  strncpy(to.sun_path, words[3], sizeof to.sun_path - 1);
  return connect_by(AF_UNIX, SOCK_STREAM, 0, &to, sizeof to);
}

/* Tries to open sockets of all families and types except TCP, such as local and raw sockets. */
enum outcome makes_other_socket(void) {
  for (int family = 0; family < 64; family++) {
    for (int type = 1; type <= 10; type++) {
      bool is_tcp = (family == AF_INET || family == AF_INET6) && type == SOCK_STREAM;
      if (!is_tcp && socket(family, type, 0) >= 0) return ALLOWED;
    }
  }
  return socket(AF_INET, SOCK_STREAM | 0x100, 0) >= 0 || socket(AF_INET, SOCK_RAW, IPPROTO_TCP) >= 0
             ? ALLOWED
             : REFUSED;
}

enum outcome opens_fast(void) {
  struct sockaddr_storage to;
  socklen_t size = address_of(&to, words[FIRST_ADDRESS], tcp_port());
  int made = socket(to.ss_family, SOCK_STREAM, 0);
  int on = 1;
  setsockopt(made, IPPROTO_TCP, 30 /* TCP_FASTOPEN_CONNECT */, &on, sizeof on);
  ssize_t sent = sendto(made, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&to, size);
  if (sent < 0) sent = sendto(made, "x", 1, 0, (struct sockaddr *)&to, size);
  close(made);
  return sent < 0 ? REFUSED : ALLOWED;
}

/* Tries to send a message to another address, and a message that carries a descriptor. */
enum outcome sends_message(void) {
  struct sockaddr_storage to;
  socklen_t size = address_of(&to, words[FIRST_ADDRESS], tcp_port());
  int made = socket(to.ss_family, SOCK_STREAM, 0);
  char control[CMSG_SPACE(sizeof made)] = {0};
  struct iovec content = {"x", 1};
  struct msghdr plain = {.msg_name = &to, .msg_namelen = size, .msg_iov = &content, .msg_iovlen = 1};
  struct msghdr giving = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = control,
                          .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&giving);
  *header = (struct cmsghdr){CMSG_LEN(sizeof made), SOL_SOCKET, SCM_RIGHTS};
  memcpy(CMSG_DATA(header), &made, sizeof made);
  struct mmsghdr many = {.msg_hdr = giving};
  bool is_sent = sendmsg(made, &plain, MSG_FASTOPEN) >= 0 || sendmsg(made, &giving, 0) >= 0 ||
                 sendmmsg(made, &many, 1, 0) >= 0;
  close(made);
  return is_sent ? ALLOWED : REFUSED;
}

enum outcome uses_ring(void) {
  char parameters[256] = {0};
  return syscall(425 /* io_uring_setup */, 8, parameters) >= 0 ? ALLOWED : REFUSED;
}

enum outcome serves(void) {
  struct sockaddr_storage to;
  int pair[2], made = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t size = address_of(&to, "0.0.0.0", 0);
  bool is_allowed = bind(made, (struct sockaddr *)&to, size) == 0 || listen(made, 1) == 0 ||
                    accept(made, NULL, NULL) >= 0 || accept4(made, NULL, NULL, 0) >= 0 ||
                    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0;
  close(made);
  return is_allowed ? ALLOWED : REFUSED;
}

/*
 * Tries to find out the network namespace, the network devices and the peer's process by a socket.
 */
enum outcome asks_socket(void) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  int pidfd = -1, made = socket(AF_INET, SOCK_STREAM, 0);
  char devices[4096];
  bool is_allowed = ioctl(made, SIOCGSKNS) >= 0 || ioctl(made, SIOCGIFCONF, devices) == 0 ||
                    ioctl(made, 0x89e0 /* SIOCUNIXFILE */) >= 0 || setns(made, 0) == 0 ||
                    getsockopt(made, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  size = sizeof pidfd;
  is_allowed = is_allowed || getsockopt(made, SOL_SOCKET, PEER_PIDFD, &pidfd, &size) == 0;
  close(made);
  return is_allowed ? ALLOWED : REFUSED;
}

static bool touches(pid_t other) {
  char path[64], bytes[8];
  struct iovec here = {bytes, sizeof bytes}, there = {(void *)(uintptr_t)4096, sizeof bytes};
  bool is_touched = kill(other, 0) == 0 || ptrace(PTRACE_ATTACH, other, 0, 0) == 0 ||
                    process_vm_readv(other, &here, 1, &there, 1, 0) >= 0 || errno != EPERM;
  const char *names[] = {"mem", "fd", "fdinfo/3", "environ", "maps"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "/proc/%d/%s", (int)other, names[i]);
    is_touched = is_touched || open(path, O_RDONLY) >= 0;
  }
  return is_touched;
}

/*
 * Tries to access processes with neighbouring ids. The broker is such a process, because it was
 * started just before this program.
 */
enum outcome touches_others(void) {
  pid_t own = getpid();
  bool is_allowed = touches(getppid());
  for (pid_t other = own - NEIGHBOURS; other < own + NEIGHBOURS; other++)
    if (other > 0 && other != own) is_allowed = is_allowed || touches(other);
  return is_allowed ? ALLOWED : REFUSED;
}

static int end_at_once(void *nothing) { return nothing != NULL; }

/*
 * Tries to start a process or thread whose open files the runner would not measure, or that the
 * runner would not kill.
 */
enum outcome hides(void) {
  static char stack[65536];
  int hidden = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
  pid_t child = fork();
  if (child == 0) {
    bool is_allowed = setsid() >= 0 || setpgid(0, 0) == 0 || unshare(CLONE_FILES) == 0 ||
                      syscall(SYS_close_range, 100u, ~0u, 2u /* CLOSE_RANGE_UNSHARE */) == 0;
    _exit(is_allowed ? ALLOWED : REFUSED);
  }
  if (outcome_of_child(child) != REFUSED) return ALLOWED;
  if (clone(end_at_once, stack + sizeof stack, hidden, NULL) >= 0) return ALLOWED;
  return clone(end_at_once, stack + sizeof stack, CLONE_VM | CLONE_PARENT | SIGCHLD, NULL) >= 0
             ? ALLOWED
             : REFUSED;
}

enum outcome runs_others(void) {
  pid_t child = fork();
  if (child != 0) return outcome_of_child(child);
  execl("/bin/sh", "sh", "-c", "exit 2", (char *)NULL);
  _exit(REFUSED);
}
