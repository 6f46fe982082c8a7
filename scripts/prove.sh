#!/bin/sh
# Proves the contracts of the checked arithmetic, of the cursor, and of the functions that read the messages of
# tokenizer.model with Frama-C's WP plugin, Z3 and CVC4.
# All goals must be proved, including that no arithmetic wraps and that every byte read is in the buffer.
#
# Assumptions: fill functions fulfil their contract (src/core/cursor.h), and bytes have 8 bits.
set -eu
cd "$(dirname "$0")/.."
sh scripts/need.sh prove
mkdir -p build/prove
[ -f "$HOME/.why3.conf" ] || why3 config detect >/dev/null 2>&1

# Arguments: a file, its functions, and further options.
prove() {
    file=$1
    functions=$2
    shift 2
    log=build/prove/$(basename "$file").log
    frama-c -wp -wp-rte -rte-no-pointer-call -wp-fct "$functions" -wp-model typed+cast+real \
        -wp-prover z3,cvc4,qed -wp-timeout 120 -wp-warn-key pedantic-assigns=inactive \
        -machdep x86_64 -cpp-extra-args="-Isrc -Iinclude -std=c11" "$@" "$file" >"$log" 2>&1 ||
        { cat "$log"; exit 1; }
    proved=$(sed -n 's/^\[wp\] Proved goals: *\([0-9]*\) *\/ *\([0-9]*\)$/\1 \2/p' "$log")
    [ -n "$proved" ] || { cat "$log"; exit 1; }
    echo "$file: ${proved% *} of ${proved#* } goals proved"
    [ "${proved% *}" = "${proved#* }" ] || { grep -A2 Failed "$log"; exit 1; }
}

prove src/core/checked.h wb__add,wb__mul,wb__align_up,wb__in_range,wb__to_size \
    -warn-unsigned-overflow
prove src/core/cursor.c "wb__cursor_at_hand,wb__cursor_at,wb__cursor_left,wb__cursor_set_limit,\
wb__cursor_fetch,wb__cursor_want,wb__cursor_peek_slow,wb__cursor_peek,wb__cursor_le64" \
    -warn-unsigned-overflow
# Shifts are not arithmetic on sizes: for the loads and for varints, only the bytes they read are proved.
prove src/core/endian.h wb__load_le16,wb__load_le32,wb__load_le64 -no-warn-signed-overflow
prove src/arch/tokenizer/protobuf.c read_varint,read_fixed,read_bytes,wb__message_next -no-warn-signed-overflow
prove src/arch/tokenizer/sentencepiece.c \
    text_of,message_of,read_piece,read_trainer,read_normalizer,read_part,wb__pieces_next -no-warn-signed-overflow
