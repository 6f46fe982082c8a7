/*
 * formats/safetensors/fast.h: fast parser for header members in the notations of common writers.
 *
 *     "layers.0.mlp.up_proj.weight":{"dtype":"BF16","shape":[1408,2048],"data_offsets":[0,5767168]}
 *      `--------- name ----------' `--------------------- open ---------------------' begin, end
 *
 * The header of a large model may have 92,160 members in 12 MB, so the cost per member determines
 * how long opening the model takes. Three observations make parsing fast:
 *
 * - A name ends at the first quote. If no special byte (backslash, control character, non-ASCII
 * byte) precedes the quote, the name is copied and hashed unchanged.
 *
 * - The text around the name and the offsets, the frame, is the same for all tensors with equal
 * dtype and shape (wb__st_frame). A few frames are cached, and comparisons replace parsing a dozen
 * tokens.
 *
 * - begin usually equals the end of the previous tensor, so a comparison replaces parsing a number.
 * end has as many digits as begin, or occasionally one more.
 *
 * Nearly every step is thus a guess confirmed by a comparison. The position of the next member
 * depends only on the length of the name, so the processor parses several members in parallel.
 *
 * The fast parser stops before a member with another notation (an escape, a non-ASCII byte, an
 * unknown field) or a wrong size. safetensors_decode.c then parses the member. This code therefore
 * accepts only what safetensors_decode.c accepts, with the same result, and reports no errors; a
 * differential fuzzer verifies this.
 *
 * This file is included once per instruction set, with these definitions:
 *     FAST_FUNCTION  attributes of the functions, in front of `static inline`
 *     FAST_NAME      name of the generated function
 *     name_length(p, &last)        number of bytes before the first quote or special byte, at most
 *                                  255; 256 if there are more
 *     same_text(p, text, len)      true if len bytes are equal; 0 < len <= WB__ST_TEXT_MAX
 *     copy_name(to, p, len)        may write WB__NAMES_SLACK extra bytes
 *     hash_name(hasher, p, len)    equals hasher->hash
 *     read_number(p, guess, &value)  returns the number of digits (1 to 15) of a number without
 *                                  leading zeros, else 0; `guess` is the expected number of
 *                                  digits, 0 if unknown
 * Each function may read up to 320 bytes after p; WB__ST_FAST_MARGIN ensures that these bytes are
 * available.
 */

_Static_assert(WB__ST_FAST_MARGIN >= 1 + 255 + WB__ST_TEXT_MAX + 15 + WB__ST_BETWEEN_MAX + 15 +
                                         WB__ST_TEXT_MAX + WB__ST_SPACES + 64,
               "the margin covers a member");

/* Returns true if `text`, a part of a frame, is at p. Most parts have at most 8 bytes. */
FAST_FUNCTION static inline bool matches(const uint8_t *p, const wb__st_text *text)
{
    return (wb__load_le64(p) & text->first_mask) == text->first &&
           (text->len <= 8 || same_text(p, text->text, text->len));
}

FAST_FUNCTION static inline bool is_metadata(const uint8_t *name, unsigned len)
{
    return len == 12 && memcmp(name, "__metadata__", 12) == 0;
}

/*
 * Parses members from *key on and sets *key to the first member that it does not parse. If the
 * reason is that the text after the name is not the expected frame (see above), sets *other to the
 * closing quote of the name; otherwise to NULL. Returns the end of the last parsed member. Calls no
 * functions and is not inlined, so that the constants of the vector code stay in registers.
 */
FAST_FUNCTION FAST_APART static const uint8_t *take_members(wb__st_reader *reader,
                                                            const uint8_t **key, const uint8_t *end,
                                                            uint32_t where, const uint8_t **other)
{
    wb__table *table = reader->table;
    const uint8_t *p = *key, *taken = p;
    uint32_t zero = (uint32_t)(uintptr_t)p - where; /* offset in the header of the byte at any p:
                                                     * (uint32_t)p - zero */
    char *to = table->names + table->names_used;
    wb__record *record = table->records_end - table->count;
    uint64_t expected = reader->expected;
    bool irregular = false;
    unsigned history = reader->history;
    name_lengths lengths = {{0, 0}, {0, 0}};
    /* points to the digits of the previous tensor's end (`expected`) in the header */
    const uint8_t *expected_text = p;
    unsigned guess = 0; /* expected number of digits of an offset; 0: unknown */

    *other = NULL;
    while ((size_t)(end - p) >= WB__ST_FAST_MARGIN) {
        const uint8_t *name = p + 1;
        unsigned name_len = name_length(name, &lengths);
        const uint8_t *q = name + name_len;
        const wb__st_frame *frame = &reader->frames[reader->follower[history]];
        if (name_len > 255 || *q != '"' || is_metadata(name, name_len))
            break;
        if (!same_text(q, frame->open.text, frame->open.len)) {
            *other = name + name_len;
            break;
        }
        q += frame->open.len;

        uint64_t tensor_begin = expected, tensor_end;
        unsigned digits = guess;
        if (guess == 0 || !same_text(q, expected_text, guess)) {
            digits = read_number(q, 0, &tensor_begin);
            if (digits == 0)
                break;
        }
        q += digits;
        if (!matches(q, &frame->between)) {
            *other = name + name_len;
            break;
        }
        q += frame->between.len;
        expected_text = q;
        digits = read_number(q, guess, &tensor_end);
        if (digits == 0)
            break;
        q += digits;
        if (!matches(q, &frame->close)) {
            *other = name + name_len;
            break;
        }
        if (tensor_end < tensor_begin || tensor_end - tensor_begin != frame->bytes)
            break;

        copy_name(to, name, name_len);
        to[name_len] = '\0';
        *--record =
            (wb__record){tensor_begin, (uint32_t)(to - table->names), frame->kind,
                         (uint32_t)(uintptr_t)p - zero, hash_name(&table->hasher, name, name_len)};
        to += name_len + 1;
        history = (history << 2 ^ frame->number) % WB__ST_HISTORIES;
        /* If this tensor begins where the previous one ends, the next tensor probably begins at
         * tensor_end. Otherwise, the number of digits of the next offset is unknown. */
        guess = tensor_begin == expected ? digits : 0;
        irregular |= tensor_begin != expected;
        expected = tensor_end;

        taken = q + frame->close.len;
        p = wb__st_next_key(taken);
        if (p == NULL)
            break;
    }
    table->names_used = (size_t)(to - table->names);
    table->count = (size_t)(table->records_end - record);
    reader->history = history;
    reader->expected = expected;
    reader->irregular |= irregular;
    *key = p;
    return taken;
}

FAST_FUNCTION const uint8_t *FAST_NAME(wb__st_reader *reader, const uint8_t *p, const uint8_t *end,
                                       uint32_t where)
{
    const uint8_t *key = p, *taken = p, *other, *found = NULL;
    for (;;) {
        const uint8_t *from = key;
        const uint8_t *to = take_members(reader, &key, end, where + (uint32_t)(key - p), &other);
        if (to != from)
            taken = to;
        if (other == NULL || other == found || !wb__st_find_frame(reader, other, end))
            return taken;
        found = other;
    }
}
