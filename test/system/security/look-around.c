/*
 * Stands in for ffmpeg, and writes what it sees of the machine into its output: a WAV file of 8 bits
 * a sample, whose samples are the text.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_BYTES 400
#define PID_MAX 32768

static int is_seen(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0;
}

static int count_processes(void) {
  int count = 0;
  for (int pid = 1; pid <= PID_MAX; pid++) {
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", pid);
    count += is_seen(path);
  }
  return count;
}

static void put(FILE *file, uint32_t value, size_t bytes) { fwrite(&value, 1, bytes, file); }

int main(int argc, char **argv) {
  if (argc == 2) {
    printf("ffmpeg version 7.1\n");
    return 0;
  }
  char text[TEXT_BYTES];
  memset(text, ' ', sizeof text);
  int length = snprintf(text, sizeof text, "{\"processes\":%d,\"shadow\":%d,\"secrets\":%d,\"root\":%d}",
                        count_processes(), is_seen("/etc/shadow"), is_seen(SECRETS), is_seen("/root"));
  text[length] = ' ';
  FILE *file = fopen(argv[argc - 1], "w");
  if (!file) return 1;
  fputs("RIFF", file);
  put(file, 36 + sizeof text, 4);
  fputs("WAVEfmt ", file);
  put(file, 16, 4);
  put(file, 1, 2);
  put(file, 1, 2);
  put(file, 8000, 4);
  put(file, 8000, 4);
  put(file, 1, 2);
  put(file, 8, 2);
  fputs("data", file);
  put(file, sizeof text, 4);
  fwrite(text, 1, sizeof text, file);
  return fclose(file);
}
