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

#define WB__MSG_PULL_WEB_PATTERNS                                                                  \
    "patterns select files of a repository, but the address is that of one file"
#define WB__MSG_PULL_HUB_SHA256                                                                    \
    "the hub states the digests of its files; a SHA-256 is only for other addresses"
#define WB__MSG_PULL_NOTHING "no file of the repository matches"
#define WB__MSG_PULL_TOTAL "the sizes of the files add up to more than 64 bits can hold"
#define WB__MSG_PULL_ROOM "the files need %llu bytes, but only %llu are free"

/* ---- pull_web.c ---- */

#define WB__MSG_PULL_IS_FOLDER "it is the address of a folder; only single files can be pulled"
#define WB__MSG_PULL_WEB_NAME                                                                      \
    "the last part of the address cannot be the name of a file: %s; choose one with --to"
#define WB__MSG_PULL_SHA256 "the SHA-256 must have 64 hexadecimal digits in lower case"

/* ---- layout_file.c, layout_folder.c ---- */

#define WB__MSG_PULL_OTHER_FILE "the folder has another file of this name, which was not downloaded"

#endif
