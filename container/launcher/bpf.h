/* Steps of a seccomp filter; between two rules the accumulator holds the number of the call. */
#ifndef LAUNCHER_BPF_H
#define LAUNCHER_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

#define REFUSED (SECCOMP_RET_ERRNO | EPERM)
#define SET_ID_BITS 06000u

/* Rules: what becomes of a call, by its number and its arguments. */
void answer(int number, uint32_t action);
void refuse_all(const int *numbers, size_t count);
void refuse_argument_but(int number, int index, uint32_t value);
void allow_argument_values(int number, int index, const uint32_t *values, uint8_t count);
void refuse_argument_values(int number, int index, const uint32_t *values, uint8_t count);
void refuse_argument_bits(int number, int index, uint32_t bits);
void answer_argument_bits(int number, int index, uint32_t bits, uint32_t action);
void refuse_set_id(int number, int flags_index, int mode_index);

/* Single steps. */
void load_number(void);
void load_argument(int index);
void jump(uint16_t test, uint32_t value, uint8_t if_true, uint8_t if_false);
void give(uint32_t action);
void add(struct sock_filter step);

/* Installs the steps so far, after which another filter can be begun; answers its listener. */
void install_filter(void);
int install_listening_filter(void);

#endif
