# Every public struct that begins with its size is in src/core/abi.def and has an initialiser, which compiles
# without warnings in C and C++. weighbridge/base.h names all other structs as fixed. The examples compile, and so
# do programs that do not use initialisers.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
headers=$(ls include/weighbridge/*.h | grep -v /experimental.h)
cat $headers | awk '/^typedef struct wb_[a-z0-9_]* \{/ { name = $3; getline
    print name, $0 ~ /^    size_t size;/ ? "grows" : "fixed" }' | LC_ALL=C sort >"$scratch/structs"
sed -n 's/ grows$//p' "$scratch/structs" >"$scratch/grows"
[ "$(wc -l <"$scratch/grows")" -ge 47 ]
sed -n 's/^WB__STRUCT(\(wb_[a-z0-9_]*\),.*/\1/p' src/core/abi.def | LC_ALL=C sort |
    diff - "$scratch/grows"
sed -n 's/ fixed$//p' "$scratch/structs" | while read -r name; do
    sed -n '/^ \* All other structs never change/,/\*\//p' include/weighbridge/base.h |
        grep -qw "$name" || { echo "weighbridge/base.h does not call $name fixed" >&2; exit 1; }
done

{
    printf '#include <weighbridge.h>\n#include <weighbridge/experimental.h>\n#include <weighbridge/net.h>\n'
    printf 'int check_sizes(void);\nint check_sizes(void)\n{\n    int wrong = 0;\n'
    for name in $(cat "$scratch/grows") wb_json wb_json_item; do
        macro=$(echo "$name" | tr a-z A-Z)_INIT
        printf '    {\n        %s value = %s;\n        wrong |= value.size != sizeof value;\n    }\n' \
            "$name" "$macro"
    done
    printf '    return wrong;\n}\n'
    cat <<'C'
int main(void)
{
    wb_limits in_header = WB_LIMITS_INIT, in_library = WB_LIMITS_INIT;
    wb_limits_default(&in_library);
    return check_sizes() || in_header.safetensors_header != in_library.safetensors_header ||
           in_header.gguf_header != in_library.gguf_header ||
           in_header.npy_header != in_library.npy_header ||
           in_header.npz_directory != in_library.npz_directory ||
           in_header.inflated != in_library.inflated ||
           in_header.json_bytes != in_library.json_bytes || in_header.files != in_library.files ||
           in_header.rank != in_library.rank || in_header.spool_memory != in_library.spool_memory;
}
C
} >"$scratch/new.c"
cat >"$scratch/old.c" <<'C'
#include <weighbridge.h>

int main(void)
{
    wb_open_options options = {.size = sizeof options, .access = WB_ACCESS_READ};
    wb_tensor tensor = {.size = sizeof tensor};
    wb_meta_array array = {.size = sizeof array};
    wb_model *model;
    wb_error error;
    if (wb_open("none", &options, &model, &error) == WB_OK) {
        if (wb_tensor_at(model, 0, &tensor, &error) != WB_OK ||
            wb_meta_get_string_array(model, "s", SIZE_MAX, &array, &error) != WB_OK ||
            wb_meta_get_int_array(model, "i", SIZE_MAX, &array, &error) != WB_OK ||
            wb_meta_get_float_array(model, "f", SIZE_MAX, &array, &error) != WB_OK)
            return 1;
        wb_close(model);
    }
    return 0;
}
C
warnings='-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-field-initializers -Werror'
cp "$scratch/new.c" "$scratch/new.cc"
for cc in gcc clang-19; do
    for program in new old; do
        $cc -std=c11 $warnings -Iinclude "$scratch/$program.c" "$BUILD/libweighbridge.a" -lm -ldl \
            -pthread -o "$scratch/$program"
        "$scratch/$program"
    done
    for example in examples/*.c examples/llama/*.c; do
        $cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$example"
    done
done
for cxx in g++ clang++-19; do
    $cxx -std=c++17 $warnings -Iinclude -c "$scratch/new.cc" -o "$scratch/new.o"
    $cxx "$scratch/new.o" "$BUILD/libweighbridge.a" -lm -ldl -pthread -o "$scratch/new"
    "$scratch/new"
    for example in examples/*.cc; do
        $cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$example"
    done
done
