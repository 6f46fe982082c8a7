/*
 * core: the base that all other modules use. It depends on no other module.
 *
 *   abi.h       public structs from callers with an older or newer header
 *   checked.h   checked arithmetic on numbers read from files
 *   endian.h    unaligned little-endian loads and stores
 *   memory.h    the caller's allocator, arenas, growable arrays with a maximum size
 *   text.h      (pointer, length) strings, UTF-8, escaping for display
 *   siphash.h   keyed hashing of names, resistant to hash flooding
 *   cursor.h    sequential reading, of memory or of a file in parts
 *   bytes.h     random access to bytes
 *   crc32.h     the checksum of zip
 *   context.h   the state of one operation: its allocator, limits, error and findings
 *
 * No code here depends on a file format. No code here prints, aborts or keeps state between calls.
 */
#ifndef WB_CORE_CORE_H
#define WB_CORE_CORE_H

#include "core/abi.h"
#include "core/bytes.h"
#include "core/checked.h"
#include "core/context.h"
#include "core/crc32.h"
#include "core/cursor.h"
#include "core/endian.h"
#include "core/memory.h"
#include "core/siphash.h"
#include "core/text.h"
#include "weighbridge/base.h"

#endif
