/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire between labexec (host) and labagent (guest): one virtio-serial port, which is a plain
 * byte stream that outlives both ends. It has no notion of a connection, so a session has to find
 * its own beginning in whatever an earlier session left behind.
 *
 * Host to guest the stream is byte-stuffed: ESC ESC stands for one 0xff, and ESC RESET ends
 * whatever session there was. It carries very little (a command line, standard input), so stuffing
 * costs nothing. Guest to host the stream is not stuffed: the agent answers a request with the
 * nonce of that request, and labexec drops everything before it.
 *
 * Both ways a session then is a series of frames: one type byte, a 32-bit big-endian length, the
 * payload.
 */
#ifndef LAB_REMOTE_WIRE_H
#define LAB_REMOTE_WIRE_H

#include <stddef.h>
#include <stdint.h>

enum { WIRE_ESC = 0xff, WIRE_RESET = 0x00 };

enum {
	WIRE_HEADER_BYTES = 5,
	WIRE_NONCE_BYTES = 16,
	WIRE_CHUNK_BYTES = 32 * 1024,	/* longest piece of stdin, stdout and stderr */
	WIRE_REQUEST_BYTES = 256 * 1024,	/* longest command line */
};

/* host to guest */
enum {
	WIRE_REQUEST = 'R',	/* nonce, then the arguments, each ended by NUL */
	WIRE_STDIN = 'I',	/* sent only against a WIRE_WANT */
	WIRE_STDIN_END = 'E',
};

/* guest to host */
enum {
	WIRE_WANT = 'W',	/* the last piece of stdin has been consumed, send another */
	WIRE_STDOUT = 'O',
	WIRE_STDERR = 'X',
	WIRE_EXIT = 'Z',	/* one byte: exit status, or 128 + signal */
};

static inline void wire_header_put(uint8_t *header, int type, size_t len)
{
	header[0] = (uint8_t)type;
	header[1] = (uint8_t)(len >> 24);
	header[2] = (uint8_t)(len >> 16);
	header[3] = (uint8_t)(len >> 8);
	header[4] = (uint8_t)len;
}

static inline size_t wire_header_len(const uint8_t *header)
{
	return (size_t)header[1] << 24 | (size_t)header[2] << 16 | (size_t)header[3] << 8 |
	       header[4];
}

#endif
