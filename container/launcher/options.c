/* Parses the command line of the launcher. */
#include "launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct limit_option {
  const char *name;
  int resource;
};

static const struct limit_option LIMIT_OPTIONS[] = {
    {"--memory", RLIMIT_AS},      {"--file-size", RLIMIT_FSIZE}, {"--cpu", RLIMIT_CPU},
    {"--files", RLIMIT_NOFILE},   {"--processes", RLIMIT_NPROC},
};

static bool read_flag(struct order *order, const char *name);
static void read_value(struct order *order, const char *name, const char *value);
static bool read_limit(struct order *order, const char *name, const char *value);
static struct list *find_list(struct order *order, const char *name);
static void append(struct list *list, const char *name, const char *value);
static unsigned long long number(const char *name, const char *value, unsigned long long most);

void read_options(struct order *order, int argc, char **argv) {
  order->kept_fd = -1;
  order->channel_fd = -1;
  int i = 1;
  for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
    if (read_flag(order, argv[i])) continue;
    if (i + 1 >= argc) fail_with(EINVAL, argv[i]);
    read_value(order, argv[i], argv[i + 1]);
    i++;
  }
  if (order->is_probe || order->is_waiting) return;
  if (i + 1 >= argc) fail_with(EINVAL, order->is_count ? "--count" : "no program is named");
  order->program = argv + i + 1;
}

static bool read_flag(struct order *order, const char *name) {
  if (strcmp(name, "--probe") == 0) return order->is_probe = true;
  if (strcmp(name, "--count") == 0) return order->is_count = true;
  if (strcmp(name, "--outer") == 0) return order->is_outer = true;
  if (strcmp(name, "--wait") == 0) return order->is_waiting = true;
  if (strcmp(name, "--mounted") == 0) return order->is_mounted = true;
  if (strcmp(name, "--no-stdout") == 0) return order->discards_stdout = true;
  if (strcmp(name, "--fork") == 0) return order->may_fork = true;
  return false;
}

static void read_value(struct order *order, const char *name, const char *value) {
  struct list *list = find_list(order, name);
  if (list) {
    append(list, name, value);
  } else if (strcmp(name, "--chdir") == 0) {
    order->folder = value;
  } else if (strcmp(name, "--keep-fd") == 0) {
    order->kept_fd = (int)number(name, value, 1023);
  } else if (strcmp(name, "--connect") == 0) {
    order->connect_path = value;
  } else if (strcmp(name, "--channel-fd") == 0) {
    order->channel_fd = (int)number(name, value, 1023);
  } else if (strcmp(name, "--more-processes") == 0) {
    order->more_processes = (rlim_t)number(name, value, 1ULL << 30);
  } else if (strcmp(name, "--uid") == 0) {
    order->uid = read_uid(name, value);
    order->has_uid = true;
  } else if (!read_limit(order, name, value)) {
    fail_with(EINVAL, name);
  }
}

uid_t read_uid(const char *name, const char *value) {
  return (uid_t)number(name, value, 0xfffffffeULL);
}

static bool read_limit(struct order *order, const char *name, const char *value) {
  for (size_t i = 0; i < sizeof LIMIT_OPTIONS / sizeof *LIMIT_OPTIONS; i++) {
    if (strcmp(name, LIMIT_OPTIONS[i].name) != 0) continue;
    if (order->limit_count >= LIMITS_MAX) fail_with(E2BIG, name);
    struct limit limit = {LIMIT_OPTIONS[i].resource, number(name, value, 1ULL << 62)};
    order->limits[order->limit_count++] = limit;
    return true;
  }
  return false;
}

static struct list *find_list(struct order *order, const char *name) {
  if (strcmp(name, "--reach") == 0) return &order->reach_paths;
  if (strcmp(name, "--read") == 0) return &order->read_paths;
  if (strcmp(name, "--run") == 0) return &order->run_paths;
  if (strcmp(name, "--write") == 0) return &order->write_paths;
  if (strcmp(name, "--env") == 0) return &order->variables;
  return NULL;
}

static void append(struct list *list, const char *name, const char *value) {
  if (list->count >= LIST_MAX) fail_with(E2BIG, name);
  list->items[list->count++] = value;
}

static unsigned long long number(const char *name, const char *value, unsigned long long most) {
  char *end = NULL;
  errno = 0;
  unsigned long long result = strtoull(value, &end, 10);
  bool is_number = *value >= '0' && *value <= '9' && *end == '\0' && errno == 0;
  if (!is_number || result > most) fail_with(EINVAL, name);
  return result;
}
