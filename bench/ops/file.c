#define _POSIX_C_SOURCE 200809L
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *bench_read(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    void *bytes = size <= 0 ? NULL : malloc((size_t)size);
    if (bytes == NULL || fseek(file, 0, SEEK_SET) != 0 ||
        fread(bytes, 1, (size_t)size, file) != (size_t)size)
        bench_die(path, "cannot read it");
    (void)fclose(file);
    *n = (size_t)size;
    return bytes;
}

void *bench_room(size_t n)
{
    void *room = malloc(n);
    if (room == NULL)
        bench_die("memory", "none left");
    memset(room, 1, n);
    return room;
}
