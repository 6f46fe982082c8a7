#!/bin/sh
# Installs the packages of a set if they are missing: need.sh SET...
#
# A row has the set, the name of the package in Debian 12, and a command in PATH or a file, which shows that the
# package is installed. Missing packages are installed if that needs no password (root, or sudo without one);
# otherwise the script prints the command to type and exits with 1.
set -eu

packages='
build  cmake               cmake
build  make                make
build  gcc                 gcc
build  libc6-dev           /usr/include/stdio.h
test   g++                 g++
test   clang-19            clang++-19
test   llvm-19             llvm-symbolizer-19
test   libclang-rt-19-dev  /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.fuzzer-x86_64.a
test   clang-format-19     clang-format-19
test   clang-tidy-19       clang-tidy-19
test   lib32gcc-12-dev     /usr/lib/gcc/x86_64-linux-gnu/12/32/libasan.so
test   libc6-dev-i386      /usr/lib32/crt1.o
test   gcc-aarch64-linux-gnu aarch64-linux-gnu-gcc
test   libc6-dev-arm64-cross /usr/aarch64-linux-gnu/include/stdio.h
test   qemu-user           qemu-aarch64
test   libcmocka-dev       /usr/include/cmocka.h
test   valgrind            valgrind
test   strace              strace
test   abigail-tools       abidiff
test   xfsprogs            /usr/sbin/mkfs.xfs
test   btrfs-progs         /usr/sbin/mkfs.btrfs
test   pkg-config          pkg-config
test   python3             python3
test   python3-dev         /usr/include/python3.11/Python.h
test   python3-venv        /usr/lib/python3.11/ensurepip
test   python3-jsonschema  /usr/lib/python3/dist-packages/jsonschema/__init__.py
test   jq                  jq
test   procps              ps
test   bash                bash
test   zsh                 zsh
test   fish                fish
test   groff-base          groff
test   liburing-dev        /usr/include/liburing.h
test   pocl-opencl-icd     /etc/OpenCL/vendors/pocl.icd
test   ocl-icd-libopencl1  /usr/lib/x86_64-linux-gnu/libOpenCL.so.1
test   libcurl4-openssl-dev curl-config
test   nginx               /usr/sbin/nginx
bench  cargo-web           cargo
bench  rustc-web           rustc
bench  liburing-dev        /usr/include/liburing.h
bench  pocl-opencl-icd     /etc/OpenCL/vendors/pocl.icd
bench  ocl-icd-libopencl1  /usr/lib/x86_64-linux-gnu/libOpenCL.so.1
fuzz   afl++               afl-fuzz
prove  frama-c-base        frama-c
prove  why3                why3
prove  z3                  z3
prove  cvc4                cvc4
'

is_there() {
    case $1 in
    /*) [ -e "$1" ] ;;
    *) command -v "$1" >/dev/null 2>&1 ;;
    esac
}

[ $# -gt 0 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 4; }
missing=$(for set; do
    echo "$packages" | while read -r of package proof; do
        [ "$of" != "$set" ] || is_there "$proof" || echo "$package"
    done
done)
[ -n "$missing" ] || exit 0
missing=$(echo $missing)

as_root=
if [ "$(id -u)" != 0 ]; then
    as_root=sudo
    sudo -n true 2>/dev/null || as_root=ask
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "To go on, install what Debian calls: $missing" >&2
    exit 1
fi
if [ "$as_root" = ask ]; then
    echo "To go on, type: sudo apt-get install --no-install-recommends $missing" >&2
    exit 1
fi
echo "installing $missing" >&2
install() {
    $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $missing >&2
}
# The first attempt fails if the package lists are missing or old.
install || { $as_root apt-get update -q >&2 && install; }
