#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

void *av_malloc(size_t size);
void *av_mallocz(size_t size);

enum { NEIGHBOUR_BYTES = 4000, KIB = 1024 };

static const size_t SIZES[] = {
    1, 4096, 128 * KIB - 1, 128 * KIB, 128 * KIB + 1, 132 * KIB - 1, 200000, 1024 * KIB, 1024 * KIB + 17,
};

static char *filled(size_t size)
{
    char *start = av_malloc(size);
    return start == NULL ? NULL : memset(start, 0xa5, size);
}

static int holds(const char *start, size_t size, char byte)
{
    for (size_t index = 0; index < size; index++) {
        if (start[index] != byte) return 0;
    }
    return 1;
}

/* Allocates memory that was in use before, between blocks that are in use. */
static int isZeroed(size_t size)
{
    char *used = filled(size);
    char *before = filled(NEIGHBOUR_BYTES);
    free(used);
    char *zeroed = av_mallocz(size);
    char *after = filled(NEIGHBOUR_BYTES);
    int isRight = zeroed != NULL && holds(zeroed, size, 0) && holds(before, NEIGHBOUR_BYTES, (char)0xa5);
    if (isRight) memset(zeroed, 0x5a, size);
    isRight = isRight && holds(after, NEIGHBOUR_BYTES, (char)0xa5);
    free(zeroed);
    free(before);
    free(after);
    return isRight;
}

static long countFaults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

int main(int argc, char **argv)
{
    /*
     * Blocks of any size in the heap, as after frees by ffmpeg, or each block in its own mapping.
     */
    if (argc > 1 && strcmp(argv[1], "heap") == 0) {
        mallopt(M_MMAP_THRESHOLD, 1024 * KIB * KIB);
        mallopt(M_TRIM_THRESHOLD, 1024 * KIB * KIB);
    }
    for (int round = 0; round < 3; round++) {
        for (size_t index = 0; index < sizeof(SIZES) / sizeof(SIZES[0]); index++) {
            if (!isZeroed(SIZES[index])) return printf("%zu bytes are not as they must be\n", SIZES[index]), 1;
        }
    }
    long before = countFaults();
    char *large = av_mallocz(16 * KIB * KIB);
    if (large == NULL || large[8 * KIB * KIB] != 0) return 1;
    printf("%ld\n", countFaults() - before);
    return 0;
}
