/* The types that everything uses. */
#ifndef SUPPORT_BASE_H
#define SUPPORT_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t i64;
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

/* An interned string: equal atoms are equal strings. 0 is "no string". */
typedef u32 atom;

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define PRINTF_LIKE(text, args) __attribute__((format(printf, text, args)))

#endif
