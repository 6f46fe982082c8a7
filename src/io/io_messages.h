/*
 * io/io_messages.h: texts of the errors and findings of this module, grouped by source file.
 */
#ifndef WB_IO_IO_MESSAGES_H
#define WB_IO_IO_MESSAGES_H

/* ---- copy.c ---- */

#define WB__MSG_IO_COPY_WRITE "cannot write the temporary copy"
#define WB__MSG_IO_TEMPORARY_FILE "cannot create a temporary file"
#define WB__MSG_IO_STREAM_READ "cannot read the stream"
#define WB__MSG_IO_STREAM_MEMORY "cannot allocate memory for the stream"
#define WB__MSG_IO_SNAPSHOT_MEMORY "cannot allocate memory for a snapshot of the file"
#define WB__MSG_IO_SNAPSHOT_SEAL "cannot seal the snapshot of the file"

/* ---- direct.c ---- */

#define WB__MSG_IO_READ_FILE "cannot read the file"

/* ---- directory.c ---- */

#define WB__MSG_IO_LIST_FOLDER "cannot list the folder"
#define WB__MSG_IO_OPEN_FOLDER "cannot open the folder"

/* ---- map.c ---- */

#define WB__MSG_IO_MAP_FILE "the file cannot be mapped (error %d): read the tensor instead"

/* ---- directory_replace.c ---- */

#define WB__MSG_IO_KEEP_ENTRY "cannot link this entry of the replaced folder into the new folder"

/* ---- output_directory.c ---- */

#define WB__MSG_IO_MAKE_PARENT_FOLDERS "cannot create the parent folders"
#define WB__MSG_IO_MAKE_FOLDER "cannot create a temporary folder next to the output"
#define WB__MSG_IO_RENAME_FOLDER "cannot rename the folder to its final name"

/* ---- provided_files.c ---- */

#define WB__MSG_IO_PROVIDED_READ "wb_files.open returned a source without the function read"

/* ---- sink.c ---- */

#define WB__MSG_IO_WRITE_FILE "cannot write the file"
#define WB__MSG_IO_COPY_TO_FILE "cannot copy data to the file"

/* ---- sink_publish.c ---- */

#define WB__MSG_IO_RENAME_FILE "cannot rename the file to its final name"
#define WB__MSG_IO_TEMPORARY_NAME "cannot give the file a temporary name"

/* ---- source.c ---- */

#define WB__MSG_IO_FILE_REPLACED "the file was replaced by another file of the same name"
#define WB__MSG_IO_SIZE_CHANGED "the size changed"
#define WB__MSG_IO_FILE_MODIFIED "the contents were modified"
#define WB__MSG_IO_ATTRIBUTES_CHANGED "the attributes changed"
#define WB__MSG_IO_FILE_CHANGED "the file changed since it was opened: %s"
#define WB__MSG_IO_STAT_FILE "cannot get the status of the file"
#define WB__MSG_IO_FILE_REMOVED "the file was removed or renamed"
#define WB__MSG_IO_REOPEN_FILE "cannot reopen the file"
#define WB__MSG_IO_FILE_TOO_SHORT                                                                  \
    "the file ends at this offset; it had %llu bytes when it was opened"
#define WB__MSG_IO_CALLER_READ "the function wb_source.read of the application failed"

/* ---- source_open.c ---- */

#define WB__MSG_IO_OPEN_FILE "cannot open the file"
#define WB__MSG_IO_LINK_OUTSIDE "a symbolic link leads outside the folder, and was not followed"
#define WB__MSG_IO_NOT_REGULAR "the path is %s, not a regular file"
#define WB__MSG_IO_STAT_DESCRIPTOR "cannot get the status of the file descriptor"
#define WB__MSG_IO_DESCRIPTOR_FOLDER "the file descriptor refers to a folder, not a file"
#define WB__MSG_IO_DUPLICATE_DESCRIPTOR "cannot duplicate the file descriptor"
#define WB__MSG_IO_STAT_TEMPORARY "cannot get the status of the temporary file"

#endif
