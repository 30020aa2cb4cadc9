/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that work with tests/doubles/cuda_double.c in the place of libcuda.so.1. */
#pragma once

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What the double is told, see there; NULL: nothing. */
static inline void use_cuda_double(const char *told)
{
	setenv("RAILHEAD_CUDA", getenv("CUDA_DOUBLE_PATH"), 1);
	if (told)
		setenv("CUDA_DOUBLE", told, 1);
	else
		unsetenv("CUDA_DOUBLE");
}

/* What the double counts: "cuda_double_objects", "cuda_double_flushes". */
static inline int cuda_double_count(const char *name)
{
	void *library = dlopen(getenv("CUDA_DOUBLE_PATH"), RTLD_NOW);
	int (*count)(void), n;
	void *symbol;

	assert_non_null(library);
	symbol = dlsym(library, name);
	assert_non_null(symbol);
	memcpy(&count, &symbol, sizeof(count));
	n = count();
	dlclose(library);
	return n;
}

/* Fails the test unless `text` has all of `part`. */
static inline void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" has no \"%s\"", text, part);
}
