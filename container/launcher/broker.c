/*
 * Provides a tool with network connections. The tool cannot create a socket itself, because the
 * seccomp filter suspends each socket() call for TCP. The broker, a process outside the sandbox,
 * answers the call with a descriptor that is already connected to a UNIX socket of the runner.
 * connect() then does nothing, and an address that the tool passes is never used.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYS_PIDFD_OPEN 434

/* Defined here because older system headers lack this flag. */
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif

/*
 * Time within which the runner must accept a connection, in seconds. After this time, the tool gets
 * an error.
 */
#define CONNECT_SECONDS_MAX 5

/* The only descriptors of the broker, besides the seccomp listener. */
#define CHANNEL 0
#define PLACE 1
#define TOOL 2
/*
 * Path to the UNIX socket by its open descriptor, since the broker's user may not enter the folders
 * above the socket.
 */
#define PLACE_PATH "/proc/self/fd/1"

/* Request buffer with room for kernels that write more bytes than struct seccomp_notif has. */
union request {
  struct seccomp_notif notification;
  char room[512];
};

_Noreturn static void run_broker(const struct order *order, const int *descriptors);
static void keep_only(const int *descriptors);
_Noreturn static void serve(bool leads_group);
static int receive_listener(void);
static int find_problem(int listener);
static void answer(int listener);
static int connect_out(int type);
static int give_socket(int listener, const struct seccomp_notif *request, int made);

int start_broker(const struct order *order) {
  int ends[2];
  struct stat facts;
  int place = open(order->connect_path, O_PATH | O_CLOEXEC);
  if (place < 0 || fstat(place, &facts) != 0) fail(order->connect_path);
  if (!S_ISSOCK(facts.st_mode)) fail_with(ENOTSOCK, order->connect_path);
  int tool = (int)syscall(SYS_PIDFD_OPEN, getpid(), 0);
  if (tool < 0) fail("pidfd_open");
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  pid_t between = fork();
  if (between == 0) {
    /*
     * The broker's parent exits at once, so that init adopts the broker and the tool never waits
     * for it.
     */
    pid_t child = fork();
    if (child == 0) run_broker(order, (int[]){ends[1], place, tool});
    _exit(child < 0);
  }
  int status = 1;
  if (between > 0) waitpid(between, &status, 0);
  if (between < 0 || status != 0) fail_with(EAGAIN, "fork of the broker");
  close(ends[1]);
  close(place);
  close(tool);
  return ends[0];
}

void pass_listener(int channel, int listener) {
  char byte = 0, control[CMSG_SPACE(sizeof listener)] = {0};
  struct iovec content = {&byte, 1};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = control,
                           .msg_controllen = sizeof control};
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof listener);
  memcpy(CMSG_DATA(header), &listener, sizeof listener);
  int32_t problem = 0;
  if (sendmsg(channel, &message, MSG_NOSIGNAL) != 1) fail("the broker of connections is gone");
  if (read(channel, &problem, sizeof problem) != sizeof problem)
    fail_with(EPIPE, "the broker of connections is gone");
  if (problem != 0)
    fail_with(problem, "this kernel cannot give a tool its connections (it needs Linux 5.14)");
  close(listener);
  close(channel);
}

/*
 * Runs the broker as the tool's user and without privileges, but outside the sandbox, because the
 * broker must reach the UNIX socket.
 */
static void run_broker(const struct order *order, const int *descriptors) {
  bool leads_group = getpgrp() == order->launcher;
  if (order->has_uid) change_user(order->uid);
  give_up_privileges();
  /* Prevents other processes of this user from inspecting this process. */
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) fail("PR_SET_DUMPABLE");
  keep_only(descriptors);
  serve(leads_group);
}

/*
 * Closes all other descriptors. Otherwise the runner's pipes would stay open after the end of the
 * tool.
 */
static void keep_only(const int *descriptors) {
  for (int i = 0; i < 3; i++)
    if (dup2(descriptors[i], i) != i) fail("dup2");
  close_files(-1, -1);
}

static void serve(bool leads_group) {
  int listener = receive_listener();
  int32_t problem = find_problem(listener);
  if (write(CHANNEL, &problem, sizeof problem) != sizeof problem || problem != 0) _exit(1);
  close(CHANNEL);
  struct pollfd waiting[] = {{.fd = listener, .events = POLLIN}, {.fd = TOOL, .events = POLLIN}};
  for (;;) {
    if (poll(waiting, 2, -1) < 0 && errno != EINTR) _exit(1);
    if (waiting[1].revents != 0) break;
    if ((waiting[0].revents & POLLIN) != 0) answer(listener);
    /*
     * Exits if the listener reports an error, which means that no process with the filter is left.
     */
    else if (waiting[0].revents != 0) _exit(0);
  }
  /* Ends all processes of the group with the tool, even if the runner has died. */
  if (leads_group) kill(0, SIGKILL);
  _exit(0);
}

static int receive_listener(void) {
  int listener = -1;
  char byte, control[CMSG_SPACE(sizeof listener)];
  struct iovec content = {&byte, 1};
  struct msghdr message = {.msg_iov = &content, .msg_iovlen = 1, .msg_control = control,
                           .msg_controllen = sizeof control};
  if (recvmsg(CHANNEL, &message, MSG_CMSG_CLOEXEC) != 1) _exit(1);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS) _exit(1);
  memcpy(&listener, CMSG_DATA(header), sizeof listener);
  return listener;
}

/*
 * Tests whether the kernel can place a descriptor into a suspended call. The test uses a call that
 * does not exist. A kernel that supports the operation fails with ENOENT.
 */
static int find_problem(int listener) {
  struct seccomp_notif_sizes sizes;
  struct seccomp_notif none = {0};
  if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return errno;
  if (sizes.seccomp_notif > sizeof(union request)) return E2BIG;
  if (sizes.seccomp_notif_resp > sizeof(struct seccomp_notif_resp)) return E2BIG;
  int result = give_socket(listener, &none, CHANNEL);
  return result == ENOENT ? 0 : result;
}

static void answer(int listener) {
  union request request = {0};
  /* Fails if a signal has ended the call meanwhile. */
  if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) return;
  const struct seccomp_notif *call = &request.notification;
  int made = connect_out((int)call->data.args[1]);
  int error = made < 0 ? errno : give_socket(listener, call, made);
  if (made >= 0) close(made);
  if (error == 0) return;
  struct seccomp_notif_resp refusal = {.id = call->id, .val = -1, .error = -error};
  ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &refusal);
}

/*
 * Returns a socket that is connected to the UNIX socket of the runner, with the flags in `type`; -1
 * on failure.
 */
static int connect_out(int type) {
  struct sockaddr_un place = {.sun_family = AF_UNIX, .sun_path = PLACE_PATH};
  struct timeval patience = {CONNECT_SECONDS_MAX, 0}, endless = {0, 0};
  int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return -1;
  bool is_ready =
      setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
      connect(made, (struct sockaddr *)&place, sizeof place) == 0 &&
      setsockopt(made, SOL_SOCKET, SO_SNDTIMEO, &endless, sizeof endless) == 0 &&
      ((type & SOCK_NONBLOCK) == 0 || fcntl(made, F_SETFL, O_NONBLOCK) == 0);
  if (is_ready) return made;
  int error = errno == EAGAIN ? ETIMEDOUT : errno;
  close(made);
  errno = error;
  return -1;
}

/*
 * Passes a descriptor of this process to the tool as the result of the tool's suspended call.
 * Returns an error number, or 0.
 */
static int give_socket(int listener, const struct seccomp_notif *call, int made) {
  bool closes = (call->data.args[1] & SOCK_CLOEXEC) != 0;
  struct seccomp_notif_addfd gift = {.id = call->id,
                                     .flags = SECCOMP_ADDFD_FLAG_SEND,
                                     .srcfd = (uint32_t)made,
                                     .newfd_flags = closes ? O_CLOEXEC : 0};
  return ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &gift) < 0 ? errno : 0;
}
