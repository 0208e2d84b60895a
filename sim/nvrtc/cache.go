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
	"strings"

	"lathe/internal/whole"
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
	return m, true
}

// machine says whether machine code is made for an architecture: sm_90, not compute_80.
func machine(arch string) bool { return strings.HasPrefix(arch, "sm_") }

// keep writes a module; a cache that cannot be written only costs time.
func (c *Compiler) keep(key string, m *Module) {
	if c.cache == "" || os.MkdirAll(filepath.Dir(c.path(key)), 0o755) != nil {
		return
	}
	_ = whole.Write(c.path(key), func(w io.Writer) error { return json.NewEncoder(w).Encode(m) })
}
