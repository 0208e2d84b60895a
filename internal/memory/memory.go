// SPDX-License-Identifier: Apache-2.0

// Package memory says how much memory a program may still take on this machine.
package memory

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Unknown is what Free gives where nothing is known.
const Unknown = math.MaxInt64

// Free is how many bytes are left, by the files of Linux below root ("/"): the least of what the machine has, what the
// address space of the process may grow by, and what its control groups leave.
func Free(root string) int64 {
	return max(min(available(root), withinProcess(root), withinGroup(root)), 0)
}

// available is what the machine has for new programs.
func available(root string) int64 {
	if n, ok := field(filepath.Join(root, "proc/meminfo"), "MemAvailable:"); ok {
		return n << 10
	}
	return Unknown
}

// withinProcess is what the limit of the address space (ulimit -v) leaves.
func withinProcess(root string) int64 {
	limit, limited := field(filepath.Join(root, "proc/self/limits"), "Max address space")
	used, ok := field(filepath.Join(root, "proc/self/status"), "VmSize:")
	if !limited || !ok {
		return Unknown
	}
	return limit - used<<10
}

// withinGroup is what the control groups leave in which the program runs, as containers do. Cached files that are not
// in use count as free.
func withinGroup(root string) int64 {
	mounts := filepath.Join(root, "sys/fs/cgroup")
	free := left(filepath.Join(mounts, "memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
	text, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup")) // none where there are no groups
	_, group, _ := strings.Cut(string(text), "0::")
	group, _, _ = strings.Cut(group, "\n")
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		free = min(free, left(filepath.Join(mounts, at), "memory.max", "memory.current", "inactive_file"))
		if at == "/" {
			return free
		}
	}
}

// left is a limit less what is used, by files of a group.
func left(dir, limit, used, cached string) int64 {
	most, limited := field(filepath.Join(dir, limit), "")
	have, ok := field(filepath.Join(dir, used), "")
	if !limited || !ok {
		return Unknown
	}
	spare, _ := field(filepath.Join(dir, "memory.stat"), cached) // 0 where it is not told
	return most - have + spare
}

// field is the first number behind a key at the start of a line; false where there is none, as for "unlimited".
func field(file, key string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), key)
		words := strings.Fields(rest)
		if !ok || len(words) == 0 {
			continue
		}
		n, err := strconv.ParseInt(words[0], 10, 64)
		return n, err == nil
	}
	return 0, false
}
