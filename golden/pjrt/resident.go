// SPDX-License-Identifier: Apache-2.0

//go:build cgo && linux

package pjrt

import (
	"encoding/binary"

	"lathe/internal/diag"
	"lathe/ir/hlo"
)

// transfer answers requests about buffers alone.
func (s *server) transfer(k kind, c *cursor) ([][]byte, error) {
	if k == kindUpload {
		split := int(c.u32())
		arrays := c.arrays()
		if err := c.end(); err != nil {
			return nil, err
		}
		buffers, err := s.toDevices(split, arrays)
		if err != nil {
			return nil, err
		}
		return s.keep(buffers), nil
	}
	id, device := c.u32(), 0
	if k == kindDownload {
		device = int(c.u32())
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	b := s.buffers[id]
	if b == nil {
		return nil, diag.New(diag.PJRTRun, "", "buffer %d is no longer on the device", id)
	}
	if k == kindFree {
		delete(s.buffers, id)
		destroy(b)
		return nil, nil
	}
	if device >= len(b) {
		return nil, diag.New(diag.PJRTRun, "", "device %d of %d", device, len(b))
	}
	a, err := toHost(b[device])
	if err != nil {
		return nil, err
	}
	return arrayParts([]hlo.Array{a})
}

// keep numbers buffers in a row; the reply is the first number.
func (s *server) keep(buffers []shared) [][]byte {
	first := s.next + 1
	for _, b := range buffers {
		s.next++
		s.buffers[s.next] = b
	}
	return [][]byte{binary.LittleEndian.AppendUint32(nil, first)}
}

// step runs a program on buffers that are held. Those that it is given for good leave the table before it runs: the
// plugin faults when one of them is used again.
func (s *server) step(p *loaded, c *cursor) ([][]byte, error) {
	var args, lost []shared
	var ids []uint32
	var donated []int
	for i := range c.u32() {
		id, given := c.u32(), c.u8()
		b := s.buffers[id]
		if c.err == nil && b == nil {
			return nil, diag.New(diag.PJRTRun, "", "argument %d: buffer %d is no longer on the device", i, id)
		}
		if c.err != nil {
			break
		}
		args = append(args, b)
		if given != 0 {
			lost, ids, donated = append(lost, b), append(ids, id), append(donated, int(i))
		}
	}
	if err := c.end(); err != nil {
		return nil, err
	}
	for _, id := range ids {
		delete(s.buffers, id)
	}
	defer destroyAll(lost)
	results, err := s.execute(p, args, donated)
	if err != nil {
		return nil, err
	}
	return s.keep(results), nil
}
