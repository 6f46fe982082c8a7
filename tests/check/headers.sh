# Every public header compiles alone, in C11 and in C++17, without a warning; every header of src/ in C11.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
count=0
for header in $(cd include && find . -name '*.h'); do
    echo "#include \"${header#./}\"" >"$scratch/a.c"
    cp "$scratch/a.c" "$scratch/a.cc"
    for cc in gcc clang-19; do
        $cc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$scratch/a.c"
    done
    for cxx in g++ clang++-19; do
        $cxx -std=c++17 -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$scratch/a.cc"
    done
    count=$((count + 1))
done
[ "$count" -ge 18 ]
for header in $(cd src && find . -name '*.h'); do
    # A header without a guard is a template, which is included once for each instruction set.
    grep -q '^#ifndef WB_' "src/$header" || continue
    # A header of macros alone would leave the file empty, which ISO C forbids.
    printf '#include "%s"\ntypedef int not_empty;\n' "${header#./}" >"$scratch/a.c"
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude -Isrc -fsyntax-only "$scratch/a.c"
    count=$((count + 1))
done
