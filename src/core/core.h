/*
 * core: what every other room stands on, and itself stands on nothing.
 *
 *   abi.h       public structs of callers that know another version of the header
 *   checked.h   arithmetic on numbers that come out of files
 *   endian.h    integers out of and into bytes
 *   memory.h    the caller's allocator, arenas, growth with a ceiling
 *   text.h      (pointer, length) strings, UTF-8, what may be shown of them
 *   hash.h      keyed hashing of names, safe against flooding
 *   cursor.h    bytes read once, in order, from memory or through a window
 *   bytes.h     bytes at any offset
 *   crc32.h     the checksum of zip
 *   context.h   one operation: its allocator and limits, its error, its findings
 *
 * Nothing here knows of any format. Nothing here prints, aborts or keeps state between calls.
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
