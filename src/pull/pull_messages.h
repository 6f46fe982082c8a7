/* pull/pull_messages.h: texts of the errors and notes of this module. */
#ifndef WB_PULL_PULL_MESSAGES_H
#define WB_PULL_PULL_MESSAGES_H

/* ---- pull_partial.c, pull_task.c, pull_layout.c: what failed, before the text of an errno value
 * ---- */

#define WB__MSG_PULL_PARTIAL "cannot write or read the partial file"
#define WB__MSG_PULL_LOCK "cannot take the lock of the file"
#define WB__MSG_PULL_STORE "cannot store the file"
#define WB__MSG_PULL_FOLDER "cannot make or open the folder"

/* ---- pull_task.c ---- */

#define WB__MSG_PULL_AGAIN                                                                         \
    "%s: the fetched bytes do not have the digest that the hub states; fetching once more"
#define WB__MSG_PULL_DAMAGED                                                                       \
    "%s: %zu pieces of 1 MiB changed on the disk while the file was fetched; fetching them again"
#define WB__MSG_PULL_DIGEST                                                                        \
    "the fetched bytes do not have the digest that the hub states, also the second time"

/* ---- pull_run.c ---- */

#define WB__MSG_PULL_BUSY "%s: waiting for another process that fetches this file"
#define WB__MSG_PULL_CANCELLED "the download was stopped; the same command continues it"

/* ---- pull_plan.c, pull_public.c ---- */

#define WB__MSG_PULL_ADDRESS "only addresses that begin with hf:// can be pulled"
#define WB__MSG_PULL_NOTHING "no file of the repository matches"
#define WB__MSG_PULL_TOTAL "the sizes of the files add up to more than 64 bits can hold"
#define WB__MSG_PULL_ROOM "the files need %llu bytes, but only %llu are free"

/* ---- layout_folder.c ---- */

#define WB__MSG_PULL_OTHER_FILE "the folder has another file of this name, which was not downloaded"

#endif
