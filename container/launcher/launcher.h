/* Declarations shared by the parts of the launcher. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define LIST_MAX 64
#define LIMITS_MAX 8

/* Where a launcher that waits says that it waits, and that its tool begins. */
#define REPORT_FD 3

/* Exit code where a step of the launcher failed, so that the tool never ran. */
#define EXIT_NOT_LAUNCHED 126

struct list {
  const char *items[LIST_MAX];
  int count;
};

struct limit {
  int resource;
  rlim_t value;
};

/* Parsed command line. */
struct order {
  bool is_probe;
  bool is_count;
  bool is_outer;
  bool is_waiting;
  /* Whether it has waited, and is to report that the tool begins. */
  bool has_waited;
  /* Whether the tool is this process, which then executes no program. */
  bool is_held;
  /* Whether mounts hold the files instead of Landlock, which then has no part in it. */
  bool is_mounted;
  bool discards_stdout;
  bool may_fork;
  bool has_uid;
  uid_t uid;
  /* Threads and processes beside those that the user has already; 0 for no such limit. */
  rlim_t more_processes;
  int kept_fd;
  /* Descriptor of the way to the broker; -1 for none. */
  int channel_fd;
  /* The UNIX socket to which all connections go. */
  const char *connect_path;
  pid_t launcher;
  const char *folder;
  struct list reach_paths;
  struct list read_paths;
  struct list run_paths;
  struct list write_paths;
  struct list variables;
  struct limit limits[LIMITS_MAX];
  int limit_count;
  char **program;
};

/* confine.c */
/*
 * Takes from this process what its order does not give it, for good, and answers the environment of
 * its tool; outside bubblewrap, only what persists in there. `channel` is -1 without a network.
 */
char **confine(const struct order *order, pid_t parent, int channel);
void close_files(int kept, int kept_too);
void become(uid_t uid);
void give_up_privileges(void);
/* Prints which step failed and why, in one line, and exits. */
_Noreturn void fail(const char *step);
_Noreturn void fail_with(int error, const char *step);

/* options.c */
void read_options(struct order *order, int argc, char **argv);
uid_t read_uid(const char *name, const char *value);

/* order.c */
void await_order(struct order *order);
void report_begin(void);

/* processes.c */
void print_counts(char **uids);
void limit_processes(rlim_t more);

/* reach.c */
void make_reachable(const struct list *paths);

/* broker.c */
int start_broker(const struct order *order);
void hand_over(int channel, int listener);

/* landlock.c */
int landlock_abi(void);
bool restricts_signals(void);
int make_ruleset(const struct order *order);
void enforce_ruleset(int ruleset);

/* seccomp.c */
bool has_seccomp(void);
int hold_sockets(void);
void filter_syscalls(const struct order *order, bool has_network);

#endif
