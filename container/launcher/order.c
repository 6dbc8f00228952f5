/*
 * Reads the order of a waiting launcher from stdin: the length in four bytes (little-endian), then
 * arguments as on a command line, each ended by a zero byte. An order can only restrict the tool
 * further: options that would change the sandbox itself are refused.
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ORDER_BYTES_MAX (1u << 20)

static size_t read_length(void);
static void read_all(void *place, size_t length);
static char **split_words(char *text, size_t length, int *count);
static void refuse_wider(const struct order *order);
static void replace_by_dev_null(int file, int flags);
static void write_report(const char *byte);

void await_order(struct order *order) {
  write_report("\r");
  size_t length = read_length();
  char *text = malloc(length);
  if (!text) fail("the order");
  read_all(text, length);
  int count = 0;
  char **words = split_words(text, length, &count);
  struct order given = {0};
  read_options(&given, count, words);
  refuse_wider(&given);
  given.has_waited = true;
  *order = given;
  replace_by_dev_null(STDIN_FILENO, O_RDONLY);
  if (order->discards_stdout) replace_by_dev_null(STDOUT_FILENO, O_RDWR);
  if (order->kept_fd != REPORT_FD && fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC) != 0) fail("the report");
}

/*
 * Reports that the tool starts now. Writes an empty line, since readers of the tool's lines on this
 * descriptor skip empty lines.
 */
void report_start(void) { write_report("\n"); }

static size_t read_length(void) {
  uint8_t bytes[4];
  read_all(bytes, sizeof bytes);
  size_t length = 0;
  for (int i = 3; i >= 0; i--) length = length << 8 | bytes[i];
  if (length == 0 || length > ORDER_BYTES_MAX) fail_with(EMSGSIZE, "the order");
  return length;
}

static void read_all(void *place, size_t length) {
  for (size_t done = 0; done < length;) {
    ssize_t more = read(STDIN_FILENO, (char *)place + done, length - done);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) fail("the order");
    if (more == 0) fail_with(ENODATA, "the order");
    done += (size_t)more;
  }
}

/*
 * Splits an order into arguments as main() receives them: the first is the name of the program, and
 * a null pointer ends the list.
 */
static char **split_words(char *text, size_t length, int *count) {
  if (text[length - 1] != '\0') fail_with(EINVAL, "the order");
  size_t words = 1;
  for (size_t i = 0; i < length; i++) words += text[i] == '\0';
  char **list = calloc(words + 1, sizeof *list);
  if (!list) fail("the order");
  list[0] = "launcher";
  char *next = text;
  for (size_t i = 1; i < words; i++) {
    list[i] = next;
    next += strlen(next) + 1;
  }
  *count = (int)words;
  return list;
}

/*
 * Refuses options that were fixed when the sandbox was created, and options that tools in a warm
 * sandbox never have.
 */
static void refuse_wider(const struct order *order) {
  bool is_wider = order->is_probe || order->is_count || order->is_outer || order->is_waiting ||
                  order->has_uid || order->may_fork || order->connect_path ||
                  order->channel_fd >= 0 || order->reach_paths.count > 0 ||
                  (order->kept_fd >= 0 && order->kept_fd != REPORT_FD);
  if (is_wider) fail_with(EPERM, "the order");
}

static void replace_by_dev_null(int file, int flags) {
  int nothing = open("/dev/null", flags | O_CLOEXEC);
  if (nothing < 0 || dup2(nothing, file) != file) fail("/dev/null");
  close(nothing);
}

static void write_report(const char *byte) {
  if (write(REPORT_FD, byte, 1) != 1) fail("the report");
}
