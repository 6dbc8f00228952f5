/* Declarations shared by the source files of the launcher. */
#ifndef LAUNCHER_H
#define LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define LIST_MAX 64
#define LIMITS_MAX 8

/*
 * Descriptor on which a waiting launcher reports that it waits for an order, and later that the
 * tool starts.
 */
#define REPORT_FD 3

/* Exit code if a step of the launcher failed, so that the tool never ran. */
#define EXIT_NOT_LAUNCHED 126

struct list {
  const char *items[LIST_MAX];
  int count;
};

struct limit {
  int resource;
  rlim_t value;
};

/* Launch order: the parsed options of the launcher, and the program to start. */
struct order {
  bool is_probe;
  bool is_count;
  bool is_outer;
  bool is_waiting;
  /* The launcher has waited for its order, and must report the start of the tool. */
  bool has_waited;
  /* This process is already the tool, loaded ahead of its order, so no program is executed. */
  bool is_held;
  /* Mounts protect the files, and Landlock is not used. */
  bool is_mounted;
  bool discards_stdout;
  bool may_fork;
  bool has_uid;
  uid_t uid;
  /*
   * Number of threads and processes that the tool may add to those that its user already has; 0 for
   * no limit.
   */
  rlim_t more_processes;
  int kept_fd;
  /* Descriptor of the channel to the broker; -1 for none. */
  int channel_fd;
  /* UNIX socket that receives all TCP connections of the tool. */
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
 * Permanently removes all rights from this process that its order does not grant. Returns the
 * environment of the tool. With --outer, applies only the steps that remain in effect inside
 * bubblewrap. `channel` leads to the broker; -1 without a network.
 */
char **confine(const struct order *order, pid_t parent, int channel);
void close_files(int kept, int kept_too);
void change_user(uid_t uid);
void give_up_privileges(void);
/* Prints the failed step and its reason in one line, and exits with EXIT_NOT_LAUNCHED. */
_Noreturn void fail(const char *step);
_Noreturn void fail_with(int error, const char *step);

/* options.c */
void read_options(struct order *order, int argc, char **argv);
uid_t read_uid(const char *name, const char *value);

/* order.c */
void await_order(struct order *order);
void report_start(void);

/* processes.c */
void print_process_counts(char **uids);
void limit_processes(rlim_t more);

/* reach.c */
void make_reachable(const struct list *paths);

/* broker.c */
int start_broker(const struct order *order);
void pass_listener(int channel, int listener);

/* landlock.c */
int landlock_abi(void);
bool restricts_signals(void);
int make_ruleset(const struct order *order);
void enforce_ruleset(int ruleset);

/* seccomp.c */
bool has_seccomp(void);
int suspend_socket_calls(void);
void filter_syscalls(const struct order *order, bool has_network);

#endif
