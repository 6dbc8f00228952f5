/*
 * Starts one tool confined to its workspace: by Landlock, or by the mounts around it, for files, by
 * seccomp for other system calls, by resource limits, and by a user of its own where the launcher runs as root. It needs no
 * privilege. If a step fails, it exits with 126 before the tool has run.
 *
 *   launcher [--uid N] [--chdir DIR] [--keep-fd N] [--env NAME=VALUE]...
 *            [--read PATH]... [--run PATH]... [--write PATH]... [--connect PATH] [--fork]
 *            [--memory BYTES] [--file-size BYTES] [--cpu SECONDS] [--files N]
 *            [--processes N | --more-processes N] [--mounted] -- PROGRAM ARGUMENT...
 *   launcher --outer ...   prepares only what persists in the sandbox of another program
 *
 * --mounted                without Landlock, inside another program's sandbox: its mounts show nothing
 *                          but what the tool may have, its root is read-only, and it has no /proc
 * --reach PATH             the user N reaches this path also below folders that are closed to it
 * --connect PATH           each TCP connection of the tool becomes one to this UNIX socket
 * --channel-fd N           where --outer leaves, and the launcher inside finds, the way to the broker
 *                          of these connections
 *
 *   launcher --wait        inside such a sandbox, waits for its options and its program: see order.c,
 *                          and hold.c for a tool that is loaded before
 * --no-stdout              what the tool says on stdout is lost; of an order only
 *
 *   launcher --count -- N...   prints how many processes and threads each of these users has
 *   launcher --probe       prints what this kernel offers
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void print_offers(void);
static void be_first_out_of_memory(void);
static void move_channel(int channel, int place);

int main(int argc, char **argv) {
  struct order order = {0};
  pid_t parent = getppid();
  read_options(&order, argc, argv);
  if (order.is_probe) {
    print_offers();
    return 0;
  }
  if (order.is_count) {
    print_counts(order.program);
    return 0;
  }
  if (order.is_waiting) {
    close_files(REPORT_FD, -1);
    await_order(&order);
  } else {
    close_files(order.kept_fd, order.is_outer ? -1 : order.channel_fd);
  }
  order.launcher = getpid();
  be_first_out_of_memory();
  int channel = order.connect_path ? start_broker(&order) : order.channel_fd;
  make_reachable(&order.reach_paths);
  char **environment = confine(&order, parent, channel);
  if (order.is_outer && channel >= 0) move_channel(channel, order.channel_fd);
  if (order.has_waited) report_begin();
  execve(order.program[0], order.program, environment);
  fail(order.program[0]);
}

static void print_offers(void) {
  int abi = landlock_abi();
  printf("{\"landlock_abi\":%d,\"seccomp\":%s}\n", abi > 0 ? abi : 0,
         has_seccomp() ? "true" : "false");
}

/* When memory runs out, the OOM killer takes the tool rather than the runner. */
static void be_first_out_of_memory(void) {
  int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  /* In a namespace without /proc, the outer launcher has done this already. */
  if (file < 0) return;
  if (write(file, "1000", 4) != 4) fail("oom_score_adj");
  close(file);
}

/* To the number under which the launcher inside expects it. */
static void move_channel(int channel, int place) {
  if (place < 3) fail_with(EINVAL, "--channel-fd");
  if (channel == place ? fcntl(place, F_SETFD, 0) != 0 : dup2(channel, place) != place)
    fail("--channel-fd");
}

