// SPDX-License-Identifier: Apache-2.0

package source

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"lathe/internal/diag"
)

// Limits on archives. Inflated members are bounded one by one and in total; stored ones are views and cost nothing.
const (
	maxMembers  = 100_000
	maxName     = 4096
	maxRatio    = 200       // of the size of an inflated member to that in the file
	maxInflated = 256 << 20 // bytes of all inflated members together
)

// Archive is a zip archive in memory, most often a mapped file. Its members are known to lie apart, inside of the file
// and under names that stay inside of a folder; nothing is read of them before it is asked for.
type Archive struct {
	data    []byte
	members []Member
	index   map[string]int
	budget  int // bytes that may still be inflated
}

// Member is one file of an archive.
type Member struct {
	Name string
	// Size is the number of bytes, and Offset where they begin in the archive, compressed or not.
	Size, Offset int
	packed       int // bytes in the archive
	deflated     bool
	crc          uint32
}

// OpenArchive reads the directory of a zip archive (PKWARE's APPNOTE, sections 4.3 and 4.4), zip64 included. Errors are
// *diag.Error without a file name.
func OpenArchive(data []byte) (*Archive, error) {
	d := directory{data: data}
	if err := d.find(); err != nil {
		return nil, err
	}
	a := &Archive{data: data, index: map[string]int{}, budget: maxInflated}
	if d.count > maxMembers || d.count > uint64(len(data)/centralSize) {
		return nil, diag.New(diag.ModelLimit, "",
			"the archive says that it has %d members; the limit is %d, and its %d bytes "+
				"hold no more than %d", d.count, maxMembers, len(data), len(data)/centralSize)
	}
	at := d.start
	for range d.count {
		m, header, next, err := d.member(at)
		if err != nil {
			return nil, err
		}
		at = next
		if strings.HasSuffix(m.Name, "/") && m.Size == 0 {
			continue // a folder
		}
		if _, twice := a.index[m.Name]; twice {
			return nil, unsafe(at, "holds %q twice", clipped(m.Name))
		}
		if m.Offset, err = d.local(&m, header); err != nil {
			return nil, err
		}
		a.index[m.Name] = len(a.members)
		a.members = append(a.members, m)
		d.spans = append(d.spans, [2]int{header, m.Offset + m.packed})
	}
	return a, d.apart()
}

// Members lists the members in the order of the directory.
func (a *Archive) Members() []Member { return a.members }

// Find returns the member called name, or nil.
func (a *Archive) Find(name string) *Member {
	if i, ok := a.index[name]; ok {
		return &a.members[i]
	}
	return nil
}

// View returns the bytes of a member without a check of their sum: a part of the archive, which must not be written to,
// or a copy where the member is compressed.
func (a *Archive) View(m *Member) ([]byte, error) {
	packed := a.data[m.Offset : m.Offset+m.packed : m.Offset+m.packed]
	if !m.deflated {
		return packed, nil
	}
	if m.Size/maxRatio > m.packed {
		return nil, diag.New(diag.ModelLimit, "", "member %q unpacks from %d to %d bytes; the limit is a ratio of %d",
			clipped(m.Name), m.packed, m.Size, maxRatio).WithHint("store it without compression")
	}
	if m.Size > a.budget {
		return nil, diag.New(diag.ModelLimit, "", "the compressed members that are needed unpack to more than %d bytes",
			maxInflated).WithHint("store them without compression: they are then read without a copy")
	}
	a.budget -= m.Size
	out := make([]byte, m.Size)
	r := flate.NewReader(bytes.NewReader(packed))
	n, err := io.ReadFull(r, out)
	if err == nil {
		var more [1]byte
		if k, _ := io.ReadFull(r, more[:]); k > 0 {
			return nil, brokenAt(m.Offset, "member %q unpacks to more than the %d bytes that it should have",
				clipped(m.Name), m.Size)
		}
		return out, nil
	}
	return nil, brokenAt(m.Offset, "member %q cannot be unpacked: %v after %d of %d bytes", clipped(m.Name), err, n,
		m.Size)
}

// Read is View with a check of the sum; it is meant for the small members that describe the others.
func (a *Archive) Read(m *Member) ([]byte, error) {
	data, err := a.View(m)
	if err == nil && crc32.ChecksumIEEE(data) != m.crc {
		return nil, brokenAt(m.Offset, "the bytes of member %q do not have the sum that the archive states", clipped(m.Name)).
			WithHint("the file is damaged: copy it again")
	}
	return data, err
}

// Sizes and signatures of the records of a zip file.
const (
	centralSize = 46
	localSize   = 30
	endSize     = 22
	locatorSize = 20
	end64Size   = 56

	centralMark = 0x02014b50
	localMark   = 0x04034b50
	endMark     = 0x06054b50
	locatorMark = 0x07064b50
	end64Mark   = 0x06064b50
)

// directory reads the records at the end of a zip file.
type directory struct {
	data       []byte
	start, end int // of the central directory
	count      uint64
	spans      [][2]int // of the members, with their headers
}

// find locates the central directory.
func (d *directory) find() error {
	le, data := binary.LittleEndian, d.data
	at := -1
	for i := len(data) - endSize; i >= 0 && i >= len(data)-endSize-1<<16; i-- {
		if le.Uint32(data[i:]) == endMark && i+endSize+int(le.Uint16(data[i+20:])) == len(data) {
			at = i
			break
		}
	}
	if at < 0 {
		return brokenAt(len(data), "the archive has no directory at its end").
			WithHint("the file may be cut off: compare its size with that of the original")
	}
	d.count = uint64(le.Uint16(data[at+10:]))
	size, start := uint64(le.Uint32(data[at+12:])), uint64(le.Uint32(data[at+16:]))
	disks := le.Uint32(data[at+4:])
	d.end = at
	if l := at - locatorSize; l >= 0 && le.Uint32(data[l:]) == locatorMark {
		where := le.Uint64(data[l+8:])
		if where > uint64(l) || uint64(l)-where < end64Size || le.Uint32(data[where:]) != end64Mark {
			return brokenAt(l, "no zip64 directory at byte %d, where the archive points", where)
		}
		e := data[where:]
		d.count, size, start = le.Uint64(e[32:]), le.Uint64(e[40:]), le.Uint64(e[48:])
		disks, d.end = le.Uint32(e[16:])|le.Uint32(e[20:]), int(where)
	}
	if disks != 0 {
		return unsafe(at, "is one of several parts")
	}
	if start > uint64(d.end) || size != uint64(d.end)-start {
		return brokenAt(at, "the directory of %d bytes at byte %d does not end where its end is, at byte %d", size, start,
			d.end)
	}
	d.start = int(start)
	return nil
}

// member reads one entry of the central directory.
func (d *directory) member(at int) (m Member, header, next int, err error) {
	if d.end-at < centralSize || binary.LittleEndian.Uint32(d.data[at:]) != centralMark {
		return m, 0, 0, brokenAt(at, "an entry of the archive's directory is broken or cut off")
	}
	le, e := binary.LittleEndian, d.data[at:d.end]
	nameLen, extraLen, noteLen := int(le.Uint16(e[28:])), int(le.Uint16(e[30:])), int(le.Uint16(e[32:]))
	if len(e) < centralSize+nameLen+extraLen+noteLen {
		return m, 0, 0, brokenAt(at, "an entry of the archive's directory is cut off")
	}
	m.Name = string(e[centralSize : centralSize+nameLen])
	if err := checkName(at, m.Name); err != nil {
		return m, 0, 0, err
	}
	flags, method := le.Uint16(e[8:]), le.Uint16(e[10:])
	switch {
	case flags&1 != 0 || flags&(1<<6) != 0 || flags&(1<<13) != 0:
		return m, 0, 0, unsafe(at, "holds %q encrypted", clipped(m.Name))
	case method != 0 && method != 8:
		return m, 0, 0, unsafe(at, "holds %q compressed by method %d; stored and deflated ones are read", clipped(m.Name),
			method)
	}
	m.crc, m.deflated = le.Uint32(e[16:]), method == 8
	sizes := [3]uint64{uint64(le.Uint32(e[24:])), uint64(le.Uint32(e[20:])), uint64(le.Uint32(e[42:]))}
	if err := wide(e[centralSize+nameLen:][:extraLen], &sizes); err != nil {
		return m, 0, 0, brokenAt(at, "member %q: %s", clipped(m.Name), err.Error())
	}
	const most = 1 << 40
	if sizes[0] > most || sizes[1] > uint64(d.start) || sizes[2] > uint64(d.start) || method == 0 && sizes[0] != sizes[1] {
		return m, 0, 0, brokenAt(at, "member %q has %d bytes, %d in the archive, from byte %d on: that does not fit "+
			"before the directory at byte %d", clipped(m.Name), sizes[0], sizes[1], sizes[2], d.start)
	}
	m.Size, m.packed = int(sizes[0]), int(sizes[1])
	return m, int(sizes[2]), at + centralSize + nameLen + extraLen + noteLen, nil
}

// wide replaces the sizes that are all ones by those of the zip64 field, in its order: size, packed size, offset.
func wide(extra []byte, sizes *[3]uint64) error {
	le := binary.LittleEndian
	for len(extra) >= 4 {
		kind, size := le.Uint16(extra), int(le.Uint16(extra[2:]))
		if size > len(extra)-4 {
			break // padding of an odd length
		}
		field := extra[4 : 4+size]
		extra = extra[4+size:]
		if kind != 1 {
			continue
		}
		for i := range sizes {
			if sizes[i] != 1<<32-1 {
				continue
			}
			if len(field) < 8 {
				return diag.New(diag.ModelBroken, "", "its zip64 field is too short")
			}
			sizes[i], field = le.Uint64(field), field[8:]
		}
	}
	return nil
}

// local checks the header in front of a member, and returns where its data begin.
func (d *directory) local(m *Member, at int) (int, error) {
	le := binary.LittleEndian
	if d.start-at < localSize || le.Uint32(d.data[at:]) != localMark {
		return 0, brokenAt(at, "the header of member %q is broken", clipped(m.Name))
	}
	e := d.data[at:d.start]
	data := localSize + int(le.Uint16(e[26:])) + int(le.Uint16(e[28:]))
	if len(e) < data || len(e)-data < m.packed {
		return 0, brokenAt(at, "member %q of %d bytes reaches into the directory at byte %d", clipped(m.Name), m.packed,
			d.start)
	}
	if string(e[localSize:localSize+int(le.Uint16(e[26:]))]) != m.Name {
		return 0, brokenAt(at, "member %q has another name in front of its data", clipped(m.Name))
	}
	return at + data, nil
}

// apart refuses members that overlap: together they would unpack to far more than the file holds.
func (d *directory) apart() error {
	slices.SortFunc(d.spans, func(a, b [2]int) int { return a[0] - b[0] })
	for i := 1; i < len(d.spans); i++ {
		if d.spans[i][0] < d.spans[i-1][1] {
			return unsafe(d.spans[i][0], "holds members that overlap")
		}
	}
	return nil
}

// checkName refuses names that lead out of a folder, or that no system can spell.
func checkName(at int, name string) error {
	switch {
	case name == "" || len(name) > maxName || !utf8.ValidString(name) || strings.ContainsAny(name, "\x00\\"):
		return unsafe(at, "holds a member with the name %q", clipped(name))
	case strings.HasPrefix(name, "/") || len(name) > 1 && name[1] == ':':
		return unsafe(at, "holds %q, an absolute path", clipped(name))
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." || part == "." {
			return unsafe(at, "holds %q, a path that leaves its folder", clipped(name))
		}
	}
	return nil
}

// brokenAt is an error about the bytes at an offset.
func brokenAt(at int, msg string, args ...any) *diag.Error {
	return diag.New(diag.ModelBroken, "", msg, args...).WithNote("at byte %d", at)
}

// unsafe is an error about an archive that no exporter writes.
func unsafe(at int, msg string, args ...any) *diag.Error {
	return diag.New(diag.UnsafeArchive, "", "the archive "+msg, args...).WithNote("at byte %d", at).
		WithHint("export the model again; do not trust the sender of this file")
}

// clipped bounds names in messages.
func clipped(name string) string {
	const most = 100
	if len(name) > most {
		return name[:most] + "..."
	}
	return name
}
