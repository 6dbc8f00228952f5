#include <stdlib.h>
#include <string.h>

/* Same as in ffmpeg's libavutil. */
void *av_malloc(size_t size)
{
    void *start = NULL;
    return posix_memalign(&start, 64, size) == 0 ? start : NULL;
}

void *av_mallocz(size_t size)
{
    void *start = av_malloc(size);
    return start == NULL ? NULL : memset(start, 0, size);
}
