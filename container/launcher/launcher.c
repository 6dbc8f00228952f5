/*
 * Starts a tool confined to its workspace: Landlock or mounts restrict files, seccomp restricts
 * system calls, and resource limits apply. If the launcher runs as root, the tool runs as a
 * separate user; otherwise the launcher needs no privilege. If a step fails, the launcher exits
 * with 126 before the tool has run.
 *
 *   launcher [--uid N] [--chdir DIR] [--keep-fd N] [--env NAME=VALUE]...
 *            [--read PATH]... [--run PATH]... [--write PATH]... [--connect PATH] [--fork]
 *            [--memory BYTES] [--file-size BYTES] [--cpu SECONDS] [--files N]
 *            [--processes N | --more-processes N] [--mounted] -- PROGRAM ARGUMENT...
 *   launcher --outer ...   applies only the restrictions that remain in effect in the sandbox of
 *                          another program, such as bubblewrap, and starts that program
 *
 * --mounted                does not use Landlock, because the launcher runs inside another program's
 *                          sandbox: its mounts show only the tool's permitted paths, its root is
 *                          read-only, and it has no /proc
 * --reach PATH             makes this path accessible to the user N, even below folders that the user
 *                          may not enter
 * --connect PATH           makes each TCP connection of the tool lead to this UNIX socket
 * --channel-fd N           descriptor on which --outer passes the channel to the broker to the inner
 *                          launcher
 *
 *   launcher --wait        waits inside such a sandbox for a launch order with its options and its
 *                          program: see order.c, and hold.c for a tool that is loaded ahead of time
 * --no-stdout              discards the stdout of the tool; allowed only in a launch order
 *
 *   launcher --count -- N...   prints the number of processes and threads of each user
 *   launcher --probe           prints the features of this kernel that a sandbox needs
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void print_kernel_features(void);
static void prefer_for_oom_kill(void);
static void move_channel(int channel, int place);

int main(int argc, char **argv) {
  struct order order = {0};
  pid_t parent = getppid();
  read_options(&order, argc, argv);
  if (order.is_probe) {
    print_kernel_features();
    return 0;
  }
  if (order.is_count) {
    print_process_counts(order.program);
    return 0;
  }
  if (order.is_waiting) {
    close_files(REPORT_FD, -1);
    await_order(&order);
  } else {
    close_files(order.kept_fd, order.is_outer ? -1 : order.channel_fd);
  }
  order.launcher = getpid();
  prefer_for_oom_kill();
  int channel = order.connect_path ? start_broker(&order) : order.channel_fd;
  make_reachable(&order.reach_paths);
  char **environment = confine(&order, parent, channel);
  if (order.is_outer && channel >= 0) move_channel(channel, order.channel_fd);
  if (order.has_waited) report_start();
  execve(order.program[0], order.program, environment);
  fail(order.program[0]);
}

static void print_kernel_features(void) {
  int abi = landlock_abi();
  printf("{\"landlock_abi\":%d,\"seccomp\":%s}\n", abi > 0 ? abi : 0,
         has_seccomp() ? "true" : "false");
}

/* Tells the kernel's OOM killer to kill this process, and so the tool, before the runner. */
static void prefer_for_oom_kill(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  /* Returns early if /proc is missing, because the outer launcher has already set the score. */
  if (file < 0) return;
  if (write(file, "1000", 4) != 4) fail("oom_score_adj");
  close(file);
}

/* Moves the descriptor of the broker's channel to the number that the inner launcher expects. */
static void move_channel(int channel, int place) {
  if (place < 3) fail_with(EINVAL, "--channel-fd");
  if (channel == place ? fcntl(place, F_SETFD, 0) != 0 : dup2(channel, place) != place)
    fail("--channel-fd");
}

