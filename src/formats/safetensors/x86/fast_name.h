/*
 * formats/safetensors/x86/fast_name.h: determines the length of a name. special_bytes(p) is defined
 * by the including file. It returns a bit for each of 64 bytes, set for the bytes that end a name
 * (quote) or that the fast parser does not handle.
 *
 * The position of the next member depends on this length. If the length were computed, each member
 * would wait for the previous one. Names alternate between few lengths ("gate_proj", "up_proj",
 * "down_proj"), so the last two lengths are tried: a predicted branch replaces the data dependency.
 */
FAST_FUNCTION static inline unsigned name_length(const uint8_t *p, name_lengths *last)
{
    uint64_t special = special_bytes(p);
    uint64_t up_to_first = special ^ (special - 1);
    if (up_to_first == last->up_to_first[0])
        return last->length[0];
    if (up_to_first == last->up_to_first[1])
        return last->length[1];
    for (unsigned i = 0; i < 256; i += 64) {
        special = special_bytes(p + i);
        if (special == 0)
            continue;
        unsigned length = i + (unsigned)__builtin_ctzll(special);
        /* length 63 is not cached, because its mask equals the mask of 64 bytes without a match */
        if (i == 0 && length < 63) {
            last->up_to_first[1] = last->up_to_first[0];
            last->length[1] = last->length[0];
            last->up_to_first[0] = up_to_first;
            last->length[0] = length;
        }
        return length;
    }
    return 256;
}
