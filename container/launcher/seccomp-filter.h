/*
 * Rules and BPF instructions of a seccomp filter. Each rule expects the number of the system call
 * in the BPF accumulator, and leaves it there.
 */
#ifndef LAUNCHER_SECCOMP_FILTER_H
#define LAUNCHER_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define SET_ID_BITS 06000u

/* Rules, each of which decides the result of a system call by its number and arguments. */
void answer_call(int number, uint32_t action);
void refuse_all(const int *numbers, size_t count);
void refuse_argument_but(int number, int index, uint32_t value);
void allow_argument_values(int number, int index, const uint32_t *values, uint8_t count);
void refuse_argument_values(int number, int index, const uint32_t *values, uint8_t count);
void refuse_argument_bits(int number, int index, uint32_t bits);
void answer_argument_bits(int number, int index, uint32_t bits, uint32_t action);
void refuse_set_id(int number, int flags_index, int mode_index);

/* Single BPF instructions. */
void load_number(void);
void load_argument(int index);
void jump(uint16_t test, uint32_t value, uint8_t if_true, uint8_t if_false);
void return_action(uint32_t action);
void add(struct sock_filter step);

/*
 * Installs a filter of all instructions that were added; the next instruction starts a new filter.
 * install_listening_filter() returns the descriptor on which a broker receives calls.
 */
void install_filter(void);
int install_listening_filter(void);

#endif
