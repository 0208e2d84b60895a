// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFree: whichever limit is the lowest decides.
func TestFree(t *testing.T) {
	const meminfo = "MemTotal:       24681992 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\n" // 8 GiB
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing known": {nil, Unknown},
		"free memory":   {map[string]string{"proc/meminfo": meminfo}, 8 << 30},
		"much of it":    {map[string]string{"proc/meminfo": "MemAvailable: 1073741824 kB\n"}, 1 << 40},
		"a limit of the process": {map[string]string{"proc/meminfo": meminfo,
			"proc/self/limits": "Limit  Soft Limit  Hard Limit  Units\nMax address space  3221225472  unlimited  bytes\n",
			"proc/self/status": "Name: lathe\nVmSize:\t 1048576 kB\n"}, 2 << 30},
		"no limit of the process": {map[string]string{"proc/meminfo": meminfo,
			"proc/self/limits": "Max address space  unlimited  unlimited  bytes\n",
			"proc/self/status": "VmSize:\t 1048576 kB\n"}, 8 << 30},
		"a group": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "1000\n",
			"sys/fs/cgroup/a/memory.max": "5000\n", "sys/fs/cgroup/a/memory.current": "4000\n",
			"sys/fs/cgroup/a/memory.stat": "anon 3000\ninactive_file 600\n"}, 1600},
		"a group of version 1": {map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "9:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "5000\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "4000\n"}, 1000},
		"nothing left": {map[string]string{"sys/fs/cgroup/memory.max": "5000\n",
			"sys/fs/cgroup/memory.current": "5001\n"}, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := Free(root); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}
