# The library builds with the compiler alone, cc -std=c11 -O2 -Iinclude -Isrc $(find src -name '*.c'), and the
# result opens a model. With the argument "all", clang and a 32-bit build are tested as well.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cat >"$scratch/one.c" <<'C'
#include <stdio.h>
#include "weighbridge.h"

int main(void)
{
    static const char file[] = "\x38\0\0\0\0\0\0\0{\"t\":{\"dtype\":\"F32\",\"shape\":[2],"
                               "\"data_offsets\":[0,8]}}  \0\0\x80\x3F\0\0\0\xC0";
    wb_model *model;
    wb_error error;
    float values[2];
    if (wb_open_memory(file, sizeof file - 1, "memory", NULL, &model, &error) != WB_OK ||
        wb_tensor_read(model, 0, NULL, WB_DTYPE_F32, values, sizeof values, &error) != WB_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    printf("%g %g\n", values[0], values[1]);
    wb_close(model);
    return 0;
}
C
build() { # NAME COMPILER AND FLAGS
    program=$scratch/$1
    shift
    $@ -std=c11 -O2 -Iinclude -Isrc $(find src -name '*.c') "$scratch/one.c" -lm -o "$program"
    result=$("$program")
    if [ "$result" != "1 -2" ]; then
        echo "$*: $result" >&2
        exit 1
    fi
}
build plain cc
[ "${1:-}" = all ] || exit 0
build clang clang-19 &
build m32 gcc -m32 -msse2 -mfpmath=sse -idirafter /usr/include/x86_64-linux-gnu
wait $!
