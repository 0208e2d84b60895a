// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"lathe/internal/diag"
)

const (
	pageBits = 16
	pageSize = 1 << pageBits
	// firstBase is where buffers begin; gap is the least distance between two of them.
	firstBase = 0x7000_0000_0000
	gap       = 1 << 33
	// The generic addresses of shared and local memory and of parameters lie in windows of their own.
	sharedBase = 0x5000_0000_0000
	localBase  = sharedBase + 1<<33
	paramBase  = sharedBase + 2<<33
	windowSize = 3 << 33
	// sharedStart is the first address of shared memory in its own space; what lies below belongs to the system.
	sharedStart = 1024
)

// buffer is a piece of global memory: bytes, or pages that exist once they are written.
type buffer struct {
	name  string
	base  uint64
	size  uint64
	dense []byte
	pages [][]byte
	mu    *sync.Mutex // guards pages
}

// memory is the global memory of a machine.
type memory struct {
	buffers []*buffer // by base
	next    uint64
	serial  int
}

// blank is a page that was never written.
var blank = slices.Repeat([]byte{0xFF}, pageSize)

func newMemory() *memory { return &memory{next: firstBase} }

func (m *memory) alloc(bytes int64, opt AllocOptions) (uint64, error) {
	if bytes < 0 || bytes > 1<<46 || !opt.Sparse && bytes > 1<<36 {
		return 0, diag.New("L0963", opt.Name, "a buffer of %d bytes", bytes)
	}
	if opt.Base%256 != 0 {
		return 0, diag.New("L0963", opt.Name, "the base %#x is no multiple of 256", opt.Base)
	}
	m.serial++
	b := &buffer{name: opt.Name, base: opt.Base, size: uint64(bytes), mu: new(sync.Mutex)}
	if b.name == "" {
		b.name = fmt.Sprintf("buffer %d", m.serial)
	}
	if b.base == 0 {
		b.base = m.next
		m.next += (uint64(bytes) + 2*gap) &^ (gap - 1)
	}
	at, _ := slices.BinarySearchFunc(m.buffers, b.base, func(x *buffer, base uint64) int { return cmp.Compare(x.base, base) })
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(m.buffers) && b.base < m.buffers[i].base+m.buffers[i].size+256 &&
			m.buffers[i].base < b.base+b.size+256 {
			return 0, diag.New("L0963", b.name, "%d bytes at %#x lie upon, or right beside, %s", bytes, b.base, m.buffers[i].name)
		}
	}
	if b.base < 1<<20 || b.base+b.size > 1<<62 || b.base < sharedBase+windowSize && sharedBase < b.base+b.size {
		return 0, diag.New("L0963", b.name, "the base %#x belongs to another space", b.base)
	}
	if opt.Sparse {
		b.pages = make([][]byte, (b.size+pageSize-1)/pageSize)
	} else {
		b.dense = slices.Repeat([]byte{0xFF}, int(bytes))
	}
	m.buffers = slices.Insert(m.buffers, at, b)
	return b.base, nil
}

func (m *memory) free(addr uint64) error {
	for i, b := range m.buffers {
		if b.base == addr {
			m.buffers = slices.Delete(m.buffers, i, i+1)
			return nil
		}
	}
	return diag.New("L0963", "", "no buffer begins at %#x", addr)
}

// find returns the buffer that holds an address, or nil.
func (m *memory) find(addr uint64) *buffer {
	at, exact := slices.BinarySearchFunc(m.buffers, addr, func(x *buffer, a uint64) int { return cmp.Compare(x.base, a) })
	if !exact {
		at--
	}
	if at < 0 || at >= len(m.buffers) || addr-m.buffers[at].base >= m.buffers[at].size {
		return nil
	}
	return m.buffers[at]
}

// nearest describes where an address that lies in no buffer stands.
func (m *memory) nearest(addr uint64) string {
	var best *buffer
	dist := ^uint64(0)
	for _, b := range m.buffers {
		d := b.base - addr
		if addr >= b.base {
			d = addr - b.base
			d -= min(d, b.size)
		}
		if d < dist {
			best, dist = b, d
		}
	}
	switch {
	case best == nil:
		return "there are no buffers"
	case addr >= best.base:
		return fmt.Sprintf("offset %d of %s, which has %d bytes", addr-best.base, best.name, best.size)
	}
	return fmt.Sprintf("%d bytes before %s", best.base-addr, best.name)
}

// view returns n bytes at an offset of the buffer, which must not cross a page; for writing if write is set.
func (b *buffer) view(off uint64, n int, write bool) []byte {
	if b.pages == nil {
		return b.dense[off : off+uint64(n) : off+uint64(n)]
	}
	b.mu.Lock()
	page := b.pages[off>>pageBits]
	if page == nil && write {
		page = slices.Clone(blank)
		b.pages[off>>pageBits] = page
	}
	b.mu.Unlock()
	if page == nil {
		page = blank
	}
	in := off & (pageSize - 1)
	return page[in : in+uint64(n)]
}

// transfer copies between data and the memory of a host.
func (m *memory) transfer(addr uint64, data []byte, write bool) error {
	if len(data) == 0 {
		return nil
	}
	b := m.find(addr)
	if b == nil || uint64(len(data)) > b.size-(addr-b.base) {
		return diag.New("L0963", "", "a copy of %d bytes at %#x: %s", len(data), addr, m.nearest(addr))
	}
	for off := addr - b.base; len(data) > 0; {
		n := len(data)
		if b.pages != nil {
			n = min(n, int(pageSize-off&(pageSize-1)))
		}
		v := b.view(off, n, write)
		if write {
			copy(v, data)
		} else {
			copy(data, v)
		}
		data, off = data[n:], off+uint64(n)
	}
	return nil
}
