/*
 * Confines the process to the rights of a tool: the last step of a launcher before execve(), and of
 * a held tool before main().
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Time between SIGXCPU, which a tool may handle, and SIGKILL, in seconds of CPU time. */
#define CPU_GRACE_SECONDS 3

static void require_mounts(const struct order *order, pid_t parent);
static void require(const struct list *paths);
static void limit_resources(const struct order *order);
static void die_with_parent(pid_t parent);
static void adopt_orphans(void);
static char **make_environment(const struct order *order);

char **confine(const struct order *order, pid_t parent, int channel) {
  /*
   * Landlock decides which files the tool may execute. Without Landlock, the umask removes the
   * execute right from files that the tool creates.
   */
  umask(order->is_mounted ? 0177 : 077);
  if (order->is_mounted) require_mounts(order, parent);
  bool has_ruleset = !order->is_outer && !order->is_mounted;
  /*
   * Opens the allowed paths before the change of user, since the tool's user may lack access to the
   * folders above them.
   */
  int ruleset = has_ruleset ? make_ruleset(order) : -1;
  if (order->folder && chdir(order->folder) != 0) fail(order->folder);
  if (order->has_uid) change_user(order->uid);
  if (geteuid() == 0) fail_with(EPERM, "a tool never runs as root");
  limit_resources(order);
  if (order->more_processes != 0) limit_processes(order->more_processes);
  die_with_parent(parent);
  char **environment = make_environment(order);
  if (order->is_outer) return environment;
  if (order->may_fork) adopt_orphans();
  give_up_privileges();
  if (has_ruleset) enforce_ruleset(ruleset);
  if (channel >= 0) pass_listener(channel, suspend_socket_calls());
  filter_syscalls(order, channel >= 0);
  return environment;
}

void fail(const char *step) { fail_with(errno, step); }

void fail_with(int error, const char *step) {
  fprintf(stderr, "launcher: %s: %s\n", step, strerror(error));
  _exit(EXIT_NOT_LAUNCHED);
}

/* Closes all descriptors above 2 except `kept` and `kept_too`; -1 stands for no descriptor. */
void close_files(int kept, int kept_too) {
  int lower = kept < kept_too ? kept : kept_too, higher = kept < kept_too ? kept_too : kept;
  const int all_kept[] = {lower, higher};
  unsigned first = 3;
  for (int i = 0; i < 2; i++) {
    unsigned each = (unsigned)all_kept[i];
    if (all_kept[i] < 3) continue;
    if (each > first && syscall(SYS_close_range, first, each - 1, 0u) != 0) fail("close_range");
    first = each + 1;
  }
  if (syscall(SYS_close_range, first, ~0u, 0u) != 0) fail("close_range");
}

void change_user(uid_t uid) {
  gid_t gid = (gid_t)uid;
  if (uid == 0) fail_with(EINVAL, "--uid 0");
  if (setgroups(0, NULL) != 0) fail("setgroups");
  if (setresgid(gid, gid, gid) != 0) fail("setresgid");
  if (setresuid(uid, uid, uid) != 0) fail("setresuid");
  if (setuid(0) == 0) fail_with(EPERM, "root came back");
}

/*
 * Checks that the mounts of bubblewrap protect the files, as --mounted claims. Fails in a launcher
 * that was started elsewhere.
 */
static void require_mounts(const struct order *order, pid_t parent) {
  struct statvfs root;
  if (statvfs("/", &root) != 0) fail("/");
  if ((root.f_flag & ST_RDONLY) == 0) fail_with(EPERM, "--mounted, and the root can be written");
  if (access("/proc/self", F_OK) == 0) fail_with(EPERM, "--mounted, and there is /proc");
  if (parent != 1) fail_with(EPERM, "--mounted, and no process namespace");
  require(&order->read_paths);
  require(&order->run_paths);
  require(&order->write_paths);
}

/* Fails if a path does not exist, as a Landlock rule would. */
static void require(const struct list *paths) {
  for (int i = 0; i < paths->count; i++)
    if (access(paths->items[i], F_OK) != 0) fail(paths->items[i]);
}

static void limit_resources(const struct order *order) {
  const struct limit always[] = {{RLIMIT_CORE, 0}, {RLIMIT_MEMLOCK, 1 << 20}, {RLIMIT_MSGQUEUE, 0}};
  for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
    struct rlimit none = {always[i].value, always[i].value};
    if (setrlimit(always[i].resource, &none) != 0) fail("setrlimit");
  }
  for (int i = 0; i < order->limit_count; i++) {
    struct limit limit = order->limits[i];
    struct rlimit value = {limit.value, limit.value};
    if (limit.resource == RLIMIT_CPU) value.rlim_max += CPU_GRACE_SECONDS;
    if (setrlimit(limit.resource, &value) != 0) fail("setrlimit");
  }
}

/*
 * Makes the kernel kill this process when its parent dies. Must follow the change of user, which
 * clears this setting.
 */
static void die_with_parent(pid_t parent) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail("PR_SET_PDEATHSIG");
  if (getppid() != parent) fail_with(ESRCH, "the parent is gone");
}

/*
 * Makes the tool the parent of its orphaned descendants, so that the runner finds and measures them
 * below the tool.
 */
static void adopt_orphans(void) {
  if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) fail("PR_SET_CHILD_SUBREAPER");
}

void give_up_privileges(void) {
  /* Kernels before 4.3 have no ambient capabilities, and fail with EINVAL. */
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
    fail("PR_CAP_AMBIENT");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("PR_SET_NO_NEW_PRIVS");
}

/*
 * Returns the environment of the tool, with no variable of the runner and no home folder with
 * configuration. MALLOC_ARENA_MAX limits the malloc arenas of glibc: each takes 64 MB of address
 * space, and with the many threads of ffmpeg 7 they could exceed a gigabyte.
 */
static char **make_environment(const struct order *order) {
  static char *variables[LIST_MAX + 8] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8",
                                          "HOME=/nonexistent", "XDG_CACHE_HOME=/nonexistent",
                                          "MALLOC_ARENA_MAX=2"};
  static char temporary[4096];
  int count = 5;
  if (order->folder) {
    int length = snprintf(temporary, sizeof temporary, "TMPDIR=%s", order->folder);
    if (length < 0 || (size_t)length >= sizeof temporary) fail_with(ENAMETOOLONG, "--chdir");
    variables[count++] = temporary;
  }
  for (int i = 0; i < order->variables.count; i++)
    variables[count++] = (char *)order->variables.items[i];
  variables[count] = NULL;
  return variables;
}
