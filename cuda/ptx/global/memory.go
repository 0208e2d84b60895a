// SPDX-License-Identifier: Apache-2.0

// Package global is the global memory of the interpreter: buffers far apart, with guard zones between them.
package global

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
	// SharedBase begins the window of the generic addresses of shared memory.
	SharedBase = 0x5000_0000_0000
	// LocalBase begins that of local memory.
	LocalBase = SharedBase + 1<<33
	// ParamBase begins that of parameters.
	ParamBase = SharedBase + 2<<33
	// WindowSize is the length of all of them.
	WindowSize = 3 << 33
)

// Options say how a buffer is placed.
type Options struct {
	// Name stands in messages; "" lets them say "buffer 3".
	Name string
	// Sparse keeps only the pages that are written, so that a buffer may be larger than this machine's memory.
	Sparse bool
	// Base is the address of the first byte, a multiple of 256; 0 lets the memory choose one above 2^32, far from
	// others.
	Base uint64
}

// Buffer is a piece of global memory: bytes, or pages that exist once they are written.
type Buffer struct {
	Name  string
	Base  uint64
	Size  uint64
	dense []byte
	pages [][]byte
	mu    *sync.Mutex // guards pages
}

// Memory is the global memory of a machine. Kernels may use it at once; Alloc and Free stand alone.
type Memory struct {
	buffers []*Buffer // by base
	next    uint64
	serial  int
}

// blank is a page that was never written.
var blank = slices.Repeat([]byte{0xFF}, pageSize)

// New returns a memory without buffers.
func New() *Memory { return &Memory{next: firstBase} }

// Alloc makes a buffer whose bytes are all 0xFF and returns its address.
func (m *Memory) Alloc(bytes int64, opt Options) (uint64, error) {
	if bytes < 0 || bytes > 1<<46 || !opt.Sparse && bytes > 1<<36 {
		return 0, diag.New(diag.PTXBuffer, opt.Name, "a buffer of %d bytes", bytes)
	}
	if opt.Base%256 != 0 {
		return 0, diag.New(diag.PTXBuffer, opt.Name, "the base %#x is not a multiple of 256", opt.Base)
	}
	m.serial++
	b := &Buffer{Name: opt.Name, Base: opt.Base, Size: uint64(bytes), mu: new(sync.Mutex)}
	if b.Name == "" {
		b.Name = fmt.Sprintf("buffer %d", m.serial)
	}
	if b.Base == 0 {
		b.Base = m.next
		m.next += (uint64(bytes) + 2*gap) &^ (gap - 1)
	}
	at, _ := slices.BinarySearchFunc(m.buffers, b.Base, byBase)
	for _, i := range []int{at - 1, at} {
		if i >= 0 && i < len(m.buffers) && b.Base < m.buffers[i].Base+m.buffers[i].Size+256 &&
			m.buffers[i].Base < b.Base+b.Size+256 {
			return 0, diag.New(diag.PTXBuffer, b.Name, "%d bytes at %#x lie upon, or right beside, %s", bytes, b.Base,
				m.buffers[i].Name)
		}
	}
	if b.Base < 1<<20 || b.Base+b.Size > 1<<62 || b.Base < SharedBase+WindowSize && SharedBase < b.Base+b.Size {
		return 0, diag.New(diag.PTXBuffer, b.Name, "the base %#x belongs to another space", b.Base)
	}
	if opt.Sparse {
		b.pages = make([][]byte, (b.Size+pageSize-1)/pageSize)
	} else {
		b.dense = slices.Repeat([]byte{0xFF}, int(bytes))
	}
	m.buffers = slices.Insert(m.buffers, at, b)
	return b.Base, nil
}

// Free gives back the buffer that begins at an address.
func (m *Memory) Free(addr uint64) error {
	for i, b := range m.buffers {
		if b.Base == addr {
			m.buffers = slices.Delete(m.buffers, i, i+1)
			return nil
		}
	}
	return diag.New(diag.PTXBuffer, "", "no buffer begins at %#x", addr)
}

func byBase(b *Buffer, addr uint64) int { return cmp.Compare(b.Base, addr) }

// Find returns the buffer that holds an address, or nil.
func (m *Memory) Find(addr uint64) *Buffer {
	at, exact := slices.BinarySearchFunc(m.buffers, addr, byBase)
	if !exact {
		at--
	}
	if at < 0 || at >= len(m.buffers) || addr-m.buffers[at].Base >= m.buffers[at].Size {
		return nil
	}
	return m.buffers[at]
}

// Nearest describes where an address that lies in no buffer stands.
func (m *Memory) Nearest(addr uint64) string {
	var best *Buffer
	dist := ^uint64(0)
	for _, b := range m.buffers {
		d := b.Base - addr
		if addr >= b.Base {
			d = addr - b.Base
			d -= min(d, b.Size)
		}
		if d < dist {
			best, dist = b, d
		}
	}
	switch {
	case best == nil:
		return "there are no buffers"
	case addr >= best.Base:
		return fmt.Sprintf("offset %d of %s, which has %d bytes", addr-best.Base, best.Name, best.Size)
	}
	return fmt.Sprintf("%d bytes before %s", best.Base-addr, best.Name)
}

// View returns n bytes at an offset of the buffer, which must not cross a page (an aligned access of up to 32 bytes
// does not); for writing if write is set.
func (b *Buffer) View(off uint64, n int, write bool) []byte {
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

// Page is the number of bytes from an address of the buffer on that View can give at once.
func (b *Buffer) Page(addr uint64) int {
	off := addr - b.Base
	if b.pages == nil {
		return int(b.Size - off)
	}
	return int(pageSize - off&(pageSize-1))
}

// Transfer copies between data and the memory: into it if write is set.
func (m *Memory) Transfer(addr uint64, data []byte, write bool) error {
	if len(data) == 0 {
		return nil
	}
	b := m.Find(addr)
	if b == nil || uint64(len(data)) > b.Size-(addr-b.Base) {
		return diag.New(diag.PTXBuffer, "", "a copy of %d bytes at %#x: %s", len(data), addr, m.Nearest(addr))
	}
	for off := addr - b.Base; len(data) > 0; {
		n := len(data)
		if b.pages != nil {
			n = min(n, int(pageSize-off&(pageSize-1)))
		}
		v := b.View(off, n, write)
		if write {
			copy(v, data)
		} else {
			copy(data, v)
		}
		data, off = data[n:], off+uint64(n)
	}
	return nil
}
