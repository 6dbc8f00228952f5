/*
 * Runs a program as if the kernel had no Landlock. With `both`, the kernel also seems to allow
 * namespaces only to root. Usage:
 *   hide landlock|both PROGRAM ARGUMENT...
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IS(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define HAS(bits, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define GIVE(action) BPF_STMT(BPF_RET | BPF_K, action)
#define LANDLOCK_CREATE_RULESET 444
#define CLONE3 435

int main(int count, char **words) {
  if (count < 3) return 2;
  unsigned hidden = strcmp(words[1], "both") == 0 ? CLONE_NEWUSER : 0;
  struct sock_filter steps[] = {
      LOAD(nr),
      IS(LANDLOCK_CREATE_RULESET, 0, 1),
      GIVE(SECCOMP_RET_ERRNO | ENOSYS),
      IS(CLONE3, 0, 1),
      GIVE(SECCOMP_RET_ERRNO | ENOSYS),
      IS(SYS_unshare, 1, 0),
      IS(SYS_clone, 0, 3),
      LOAD(args[0]),
      HAS(hidden, 0, 1),
      GIVE(SECCOMP_RET_ERRNO | EPERM),
      GIVE(SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("hide");
    return 3;
  }
  execvp(words[2], words + 2);
  perror(words[2]);
  return 3;
}
