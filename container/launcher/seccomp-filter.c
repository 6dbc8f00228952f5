/* Builds a seccomp filter from BPF instructions, and installs it. */
#define _GNU_SOURCE
#include "seccomp-filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

#define STEPS_MAX 1024
/* SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, which older system headers do not define. */
#define WAIT_KILLABLE (1u << 5)

static struct sock_filter steps[STEPS_MAX];
static unsigned short step_count;

static int install(unsigned flags);

void refuse_all(const int *numbers, size_t count) {
  for (size_t i = 0; i < count; i++) answer_call(numbers[i], REFUSED);
}

/*
 * Compares only the lower 32 bits of the argument, since the kernel ignores the others for these
 * calls.
 */
void refuse_argument_but(int number, int index, uint32_t value) {
  jump(BPF_JEQ, (uint32_t)number, 0, 4);
  load_argument(index);
  jump(BPF_JEQ, value, 1, 0);
  return_action(REFUSED);
  load_number();
}

void allow_argument_values(int number, int index, const uint32_t *values, uint8_t count) {
  jump(BPF_JEQ, (uint32_t)number, 0, count + 3);
  load_argument(index);
  for (uint8_t i = 0; i < count; i++) jump(BPF_JEQ, values[i], count - i, 0);
  return_action(REFUSED);
  load_number();
}

void refuse_argument_values(int number, int index, const uint32_t *values, uint8_t count) {
  jump(BPF_JEQ, (uint32_t)number, 0, count + 3);
  load_argument(index);
  for (uint8_t i = 1; i < count; i++) jump(BPF_JEQ, values[i], count - i, 0);
  jump(BPF_JEQ, values[0], 0, 1);
  return_action(REFUSED);
  load_number();
}

void refuse_argument_bits(int number, int index, uint32_t bits) {
  answer_argument_bits(number, index, bits, REFUSED);
}

void answer_argument_bits(int number, int index, uint32_t bits, uint32_t action) {
  jump(BPF_JEQ, (uint32_t)number, 0, 4);
  load_argument(index);
  jump(BPF_JSET, bits, 0, 1);
  return_action(action);
  load_number();
}

/* Checks the mode only with O_CREAT: without O_CREAT the argument has an arbitrary value. */
void refuse_set_id(int number, int flags_index, int mode_index) {
  jump(BPF_JEQ, (uint32_t)number, 0, 6);
  load_argument(flags_index);
  jump(BPF_JSET, O_CREAT, 0, 3);
  load_argument(mode_index);
  jump(BPF_JSET, SET_ID_BITS, 0, 1);
  return_action(REFUSED);
  load_number();
}

void answer_call(int number, uint32_t action) {
  jump(BPF_JEQ, (uint32_t)number, 0, 1);
  return_action(action);
}

void load_number(void) {
  struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  add(load);
}

void load_argument(int index) {
  uint32_t place = (uint32_t)(offsetof(struct seccomp_data, args) + 8 * (size_t)index);
  struct sock_filter load = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, place);
  add(load);
}

void jump(uint16_t test, uint32_t value, uint8_t if_true, uint8_t if_false) {
  struct sock_filter step = BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), value, if_true, if_false);
  add(step);
}

void return_action(uint32_t action) {
  struct sock_filter step = BPF_STMT(BPF_RET | BPF_K, action);
  add(step);
}

void add(struct sock_filter step) {
  if (step_count >= STEPS_MAX) fail_with(E2BIG, "seccomp");
  steps[step_count++] = step;
}

void install_filter(void) {
  if (install(SECCOMP_FILTER_FLAG_TSYNC) != 0) fail("seccomp");
}

/*
 * Asks the kernel, if it is Linux 5.19 or later, not to interrupt a call by a signal while the
 * broker answers the call.
 */
int install_listening_filter(void) {
  int listener = install(SECCOMP_FILTER_FLAG_NEW_LISTENER | WAIT_KILLABLE);
  if (listener < 0) listener = install(SECCOMP_FILTER_FLAG_NEW_LISTENER);
  if (listener < 0) fail("a seccomp listener, which a container runtime may have already");
  return listener;
}

static int install(unsigned flags) {
  struct sock_fprog program = {step_count, steps};
  int result = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (result >= 0) step_count = 0;
  return result;
}
