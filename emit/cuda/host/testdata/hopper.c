/* SPDX-License-Identifier: Apache-2.0
 * The demo of a folder on the emulated driver with other settings: name and number in turn. */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define main demo
#include "demo.c"
#undef main

int main(int count, char **words) {
  void (*set)(const char *, long long);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW), *at = driver ? dlsym(driver, "emulated_set") : NULL;
  if (at == NULL) return 3;
  memcpy(&set, &at, sizeof set);
  for (int i = 1; i + 1 < count; i += 2) set(words[i], atoll(words[i + 1]));
  char *name[] = {words[0], NULL};
  return demo(1, name);
}
