/*
 * Restricts the files that the tool can access, by Landlock. Defines the kernel's interface, since
 * system headers are often older than the kernel:
 * https://docs.kernel.org/userspace-api/landlock.html
 */
#define _GNU_SOURCE
#include "launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SYS_LANDLOCK_CREATE_RULESET 444
#define SYS_LANDLOCK_ADD_RULE 445
#define SYS_LANDLOCK_RESTRICT_SELF 446

#define VERSION_FLAG 1u
#define RULE_PATH_BENEATH 1

#define FS_EXECUTE (1ULL << 0)
#define FS_WRITE_FILE (1ULL << 1)
#define FS_READ_FILE (1ULL << 2)
#define FS_READ_DIR (1ULL << 3)
#define FS_REMOVE_FILE (1ULL << 5)
#define FS_MAKE_REG (1ULL << 8)
#define FS_FIRST_ABI ((1ULL << 13) - 1)
#define FS_REFER (1ULL << 13)
#define FS_TRUNCATE (1ULL << 14)
#define FS_IOCTL_DEV (1ULL << 15)

/* Rights to bind and connect TCP sockets, which no tool has: see broker.c. */
#define NET_ALL 3ULL
/* Scope flags, which deny abstract UNIX sockets of other processes and signals to them. */
#define SCOPE_ALL 3ULL

#define READ (FS_READ_FILE | FS_READ_DIR)
/*
 * Rights to create and write regular files only, but no folders, devices, sockets, pipes or links,
 * because the runner measures a workspace as a flat folder.
 */
#define WRITE (READ | FS_WRITE_FILE | FS_REMOVE_FILE | FS_MAKE_REG | FS_TRUNCATE)
#define ON_A_FILE (FS_EXECUTE | FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset_attributes {
  uint64_t files;
  uint64_t network;
  uint64_t scope;
};

struct path_rule {
  uint64_t access;
  int32_t folder;
} __attribute__((packed));

static struct ruleset_attributes handled_rights(int abi);
static void allow(int ruleset, const struct list *paths, uint64_t access);
static void allow_path(int ruleset, const char *path, uint64_t access);

int landlock_abi(void) {
  return (int)syscall(SYS_LANDLOCK_CREATE_RULESET, NULL, 0, VERSION_FLAG);
}

bool restricts_signals(void) { return landlock_abi() >= 6; }

int make_ruleset(const struct order *order) {
  int abi = landlock_abi();
  if (abi < 1) fail("this kernel has no Landlock");
  struct ruleset_attributes handled = handled_rights(abi);
  size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  int ruleset = (int)syscall(SYS_LANDLOCK_CREATE_RULESET, &handled, size, 0);
  if (ruleset < 0) fail("landlock_create_ruleset");
  allow(ruleset, &order->read_paths, READ & handled.files);
  allow(ruleset, &order->run_paths, (READ | FS_EXECUTE) & handled.files);
  allow(ruleset, &order->write_paths, WRITE & handled.files);
  allow_path(ruleset, "/dev/null", (READ | FS_WRITE_FILE | FS_TRUNCATE) & handled.files);
  allow_path(ruleset, "/dev/urandom", READ);
  return ruleset;
}

void enforce_ruleset(int ruleset) {
  if (syscall(SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0) != 0) fail("landlock_restrict_self");
  close(ruleset);
}

/*
 * Returns the rights that Landlock refuses unless a rule grants them. Omits rights that this ABI
 * version does not know, since the kernel rejects unknown rights.
 */
static struct ruleset_attributes handled_rights(int abi) {
  struct ruleset_attributes handled = {.files = FS_FIRST_ABI};
  if (abi >= 2) handled.files |= FS_REFER;
  if (abi >= 3) handled.files |= FS_TRUNCATE;
  if (abi >= 4) handled.network = NET_ALL;
  if (abi >= 5) handled.files |= FS_IOCTL_DEV;
  if (abi >= 6) handled.scope = SCOPE_ALL;
  return handled;
}

static void allow(int ruleset, const struct list *paths, uint64_t access) {
  for (int i = 0; i < paths->count; i++) allow_path(ruleset, paths->items[i], access);
}

static void allow_path(int ruleset, const char *path, uint64_t access) {
  int file = open(path, O_PATH | O_CLOEXEC);
  if (file < 0) fail(path);
  struct stat facts;
  if (fstat(file, &facts) != 0) fail(path);
  struct path_rule rule = {.access = access, .folder = file};
  if (!S_ISDIR(facts.st_mode)) rule.access &= ON_A_FILE;
  if (syscall(SYS_LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, &rule, 0) != 0) fail(path);
  close(file);
}
