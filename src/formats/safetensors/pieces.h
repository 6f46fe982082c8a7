/*
 * formats/safetensors/pieces.h: parses the members of a large header on several threads.
 *
 * The header is divided into pieces. A task takes the next piece, reads its text, guesses where
 * the first member of the piece begins, and parses the members that begin in the piece into a
 * buffer of its own:
 *
 *     piece 0            piece 1            piece 2
 *     |"a":{…},"b":{…},"c|":{…},"d":{…},"e":|{…},"f":{…}
 *      `----------------------'`------------------'`-----  parsed as piece 0, 1, 2
 *
 * A guess is right if the previous piece ends there. Pieces are therefore placed in the order of
 * the file: a placed piece gets the indices of its tensors and the position of its names. Then it
 * is copied to the table of the model.
 *
 * No task waits for another, so that any executor works, even one that calls the tasks one after
 * the other. If a task completes a piece that cannot be placed yet, it takes another piece. The
 * task that parses the missing piece places both. Each piece is copied by the task that parsed it,
 * because its bytes are in the cache of this processor; only pieces of tasks that have ended are
 * copied by others.
 *
 * Only the fast parser is used here. If it does not handle a member, or a guess is wrong, all later
 * pieces are discarded, and the usual reader continues at this member. The result is therefore the
 * same as that of the usual reader, including errors.
 */
#ifndef WB_FORMATS_SAFETENSORS_PIECES_H
#define WB_FORMATS_SAFETENSORS_PIECES_H

#include <pthread.h>

#include "formats/safetensors/safetensors_reader.h"

/* Maximum number of tasks, and thus of threads. */
#define WB__ST_TASKS 64

/*
 * Number of bytes before a piece that are read with the piece. It is greater than the longest text
 * between the end of a member and the next key. These bytes therefore contain the end of the member
 * before the first key of the piece.
 */
#define WB__ST_LEAD (2 * WB__ST_SPACES)

_Static_assert(WB__ST_PIECE_MIN >= WB__ST_LEAD,
               "the text before the second piece is in the header");

/* Number of bytes that a task maps at once: a huge page. */
#define WB__ST_MAP_BYTES ((uintptr_t)2 << 20)

/* Maximum number of tensor kinds (dtype and shape) of a parser. They fit in the first chunk of a
 * list, and a chunk never moves. */
#define WB__ST_KINDS WB__LIST_CHUNK

typedef struct wb__st_parser wb__st_parser;

typedef struct wb__st_piece {
    struct wb__st_piece *next; /* in a list of wb__st_parser */
    wb__st_parser *parser;
    size_t index;
    uint64_t begin; /* offset of the first key */
    uint64_t taken; /* offset of the end of the last parsed member */
    uint64_t key;   /* offset of the next key; 0 if there is none after `taken` */
    bool complete;  /* all members that begin in the piece were parsed */
    size_t tensors;
    size_t names_used;
    size_t kinds;         /* number of kinds in parser->table after the piece was parsed */
    uint64_t first_begin; /* data offset of the first tensor */
    uint64_t expected;    /* end of the data of the last tensor */
    /* a tensor does not begin at the end of the previous one in the piece, or a kind has a fault */
    bool irregular;
    size_t first_tensor, first_name; /* if placed: the position in the table */
    char *names;                     /* buffer of the names, after the records */
    wb__record *records_end;
    wb__record records[];
} wb__st_piece;

/* Parses pieces for one task. */
struct wb__st_parser {
    wb__table table; /* the tensors of one piece, and the kinds of all pieces of the parser */
    uint8_t *text;   /* buffer for the text of a piece; NULL if the header is in memory */
    size_t text_bytes;
    wb__st_piece *spare; /* list of unused pieces */
    /* Protected by job.lock: */
    bool ended;
    wb__st_piece *placed;           /* list of placed pieces that this task shall copy */
    uint32_t numbers[WB__ST_KINDS]; /* for each kind, its number in the table of the model */
    size_t numbered;
    /* Must be the last member: wb__st_parser_new clears all members except the frames, which are
     * at the end of `reader`. */
    wb__st_reader reader;
};

typedef struct wb__st_job {
    wb__st_reader *reader;
    uint64_t begin;                       /* offset of the first key */
    size_t count;                         /* number of pieces */
    wb__st_parser *parsers[WB__ST_TASKS]; /* the parser of each task; NULL if the task did not
                                           * start */
    wb__st_piece **parsed; /* by piece index; NULL if the piece is not parsed yet, or is in the
                            * table already */
    pthread_mutex_t lock;
    /* Protected by `lock`: */
    size_t next;   /* index of the next piece to parse */
    size_t placed; /* number of pieces whose tensors have a place in the table */
    bool stopped;  /* no more pieces are parsed or placed */
    bool failed;   /* text could not be read */
    /* Offset of the key with which the next piece must begin, and offset of the end of the last
     * placed piece. */
    uint64_t key, taken;
    size_t tensors, names_used;
    uint64_t expected;
    bool irregular;
    /* The memory of the table between these addresses is mapped, or a task is about to map it. */
    uintptr_t mapped_begin, mapped_end;
} wb__st_job;

/* ---- safetensors_piece_parse.c ---- */

/* Returns NULL if memory runs out. */
wb__st_parser *wb__st_parser_new(const wb__st_job *job);
void wb__st_parser_free(const wb__st_job *job, wb__st_parser *parser);

/* Returns NULL if memory runs out. */
wb__st_piece *wb__st_piece_new(const wb__st_job *job);
void wb__st_piece_free(const wb__st_job *job, wb__st_piece *piece);

/* Parses the members of a piece. Precondition: the caller has set `index` and `parser`. Returns
 * false if the text of the piece cannot be read. */
bool wb__st_piece_parse(const wb__st_job *job, wb__st_piece *piece);

/* ---- safetensors_piece_place.c ---- */

/* Maps memory of the table that will soon be needed. */
void wb__st_job_map(wb__st_job *job);

/* Gives a parsed piece to the job. Places and copies what can be placed now. */
void wb__st_piece_give(wb__st_job *job, wb__st_piece *piece);

/* Called when a parser has no more pieces to parse. Copies its pieces that are already placed. */
void wb__st_parser_end(wb__st_job *job, wb__st_parser *parser);

#endif
