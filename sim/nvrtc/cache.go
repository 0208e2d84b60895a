// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lathe/internal/atomicfile"
)

// key is the hash of all that decides what comes out.
func (c *Compiler) key(source string, options []string) string {
	h := sha256.New()
	for _, s := range append([]string{"1", Version, source}, options...) {
		fmt.Fprintf(h, "%d:%s", len(s), s) // never fails
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c *Compiler) path(key string) string { return filepath.Join(c.cache, key[:2], key+".json") }

// cached reads a module; whatever is wrong with the file, it counts as absent.
func (c *Compiler) cached(key string) (*Module, bool) {
	if c.cache == "" {
		return nil, false
	}
	data, err := os.ReadFile(c.path(key))
	if err != nil {
		return nil, false
	}
	m := &Module{}
	if json.Unmarshal(data, m) != nil || len(m.PTX) == 0 || machine(m.Arch) && len(m.Cubin) == 0 {
		return nil, false
	}
	used(c.path(key))
	return m, true
}

// machine says whether machine code is made for an architecture: sm_90, not compute_80.
func machine(arch string) bool { return strings.HasPrefix(arch, "sm_") }

// used notes that a file of the cache is still of use.
func used(path string) {
	now := time.Now()
	_ = os.Chtimes(path, now, now) // at worst it is compiled again one day
}

// shelf bounds each of the 256 folders of a cache, 2 GiB in all: sources change, and nobody asks for old ones again.
const shelf = 8 << 20

// tidyUp removes the files of a folder that were not used for the longest time, until those that stay have at most so
// many bytes; the newest one stays in any case.
func tidyUp(dir string, most int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() { // others may tidy up too
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	total := int64(0)
	for i, f := range files {
		if total += f.Size(); total > most && i > 0 {
			_ = os.Remove(filepath.Join(dir, f.Name())) // at worst it stays
		}
	}
}

// keep writes a module; a cache that cannot be written only costs time.
func (c *Compiler) keep(key string, m *Module) {
	if c.cache == "" || os.MkdirAll(filepath.Dir(c.path(key)), 0o755) != nil {
		return
	}
	_ = atomicfile.Write(c.path(key), func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
	tidyUp(filepath.Dir(c.path(key)), shelf)
}
