/* push/push_messages.h: texts of the errors and notes of this module. */
#ifndef WB_PUSH_PUSH_MESSAGES_H
#define WB_PUSH_PUSH_MESSAGES_H

/* ---- push_walk.c: before the text of an errno value ---- */

#define WB__MSG_PUSH_READ "cannot read the file"
#define WB__MSG_PUSH_CHANGED "the file was changed while it was read"
#define WB__MSG_PUSH_SPECIAL "this is neither a file nor a folder"
#define WB__MSG_PUSH_DEPTH "the folder has more than %u levels"
#define WB__MSG_PUSH_FILES "there are more than %zu files"

/* ---- push_plan.c, push_public.c ---- */

#define WB__MSG_PUSH_NAME "the path cannot be used in a repository: %s"
#define WB__MSG_PUSH_CONFLICT "two files have this path, or paths that differ only in case"
#define WB__MSG_PUSH_NOTHING "there are no files to send"
#define WB__MSG_PUSH_ADDRESS "files can only be sent to hf://owner/name[@revision][/folder]"
#define WB__MSG_PUSH_COMMIT_REVISION "a commit cannot be changed: name a branch"

/* ---- push_api.c, push_upload.c ---- */

#define WB__MSG_PUSH_MODE "it has no upload mode for a file"
#define WB__MSG_PUSH_BATCH "it does not say where to send the contents"
#define WB__MSG_PUSH_PARTS "the parts that it lists do not have the size of the file"
#define WB__MSG_PUSH_LARGE "the files that LFS does not store have more than %zu bytes"
#define WB__MSG_PUSH_EXPIRED "the server refuses the contents, also at new addresses (status %u)"
#define WB__MSG_PUSH_CANCELLED "the upload was stopped; the same command continues it"
#define WB__MSG_PUSH_REFUSED "the server refuses the contents"

#endif
