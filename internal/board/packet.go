// SPDX-License-Identifier: Apache-2.0

// Package board talks to a design on a board over a serial line. Whatever bytes are lost, changed or added on the way,
// a result is that of its sample, or there is none: what fails is asked for again.
package board

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// Kinds of packets: what the host asks for, and what the board answers. rtl/board/board_session.sv describes them.
const (
	askInfo  = 0x01
	askRun   = 0x02
	askReset = 0x03

	tellInfo   = 0x81
	tellResult = 0x82
	tellReset  = 0x83
	tellFailed = 0xe2
)

// Bytes that stand for themselves nowhere inside a packet, and what takes their places.
const (
	mark       = 0xc0
	escape     = 0xdb
	escMark    = 0xdc
	escEscape  = 0xdd
	headBytes  = 8
	checkBytes = 4
)

// packet is one on the line.
type packet struct {
	kind    byte
	number  uint32
	payload []byte
}

// encode is the packet between two marks, as rtl/board/board_unpack.sv reads it.
func (p packet) encode() []byte {
	raw := make([]byte, headBytes, headBytes+len(p.payload)+checkBytes)
	raw[0] = p.kind
	binary.LittleEndian.PutUint32(raw[1:], p.number)
	raw[5], raw[6], raw[7] = byte(len(p.payload)), byte(len(p.payload)>>8), byte(len(p.payload)>>16)
	raw = append(raw, p.payload...)
	raw = binary.LittleEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
	out := []byte{mark}
	for _, b := range raw {
		switch b {
		case mark:
			out = append(out, escape, escMark)
		case escape:
			out = append(out, escape, escEscape)
		default:
			out = append(out, b)
		}
	}
	return append(out, mark)
}

// reader finds packets in bytes.
type reader struct {
	raw     []byte // behind the last mark, as it came
	most    int    // bytes of a packet
	bytes   int    // all that came
	damaged int    // packets that were not whole
}

// take takes in bytes, and returns the packets that end in them.
func (r *reader) take(data []byte) (whole []packet) {
	r.bytes += len(data)
	for _, b := range data {
		if b != mark {
			if len(r.raw) <= 2*r.most { // more is noise
				r.raw = append(r.raw, b)
			}
			continue
		}
		if len(r.raw) == 0 {
			continue
		}
		if p, ok := decode(r.raw); ok {
			whole = append(whole, p)
		} else {
			r.damaged++
		}
		r.raw = r.raw[:0]
	}
	return whole
}

// decode reads what stood between two marks.
func decode(text []byte) (p packet, ok bool) {
	var raw []byte
	for i := 0; i < len(text); i++ {
		b := text[i]
		if b == escape {
			if i++; i == len(text) {
				return p, false
			}
			switch text[i] {
			case escMark:
				b = mark
			case escEscape:
			default:
				return p, false
			}
		}
		raw = append(raw, b)
	}
	if len(raw) < headBytes+checkBytes {
		return p, false
	}
	body, sum := raw[:len(raw)-checkBytes], raw[len(raw)-checkBytes:]
	length := int(raw[5]) | int(raw[6])<<8 | int(raw[7])<<16
	if len(body) != headBytes+length || binary.LittleEndian.Uint32(sum) != crc32.ChecksumIEEE(body) {
		return p, false
	}
	return packet{body[0], binary.LittleEndian.Uint32(body[1:]), bytes.Clone(body[headBytes:])}, true
}

// Info is what a board says of itself.
type Info struct {
	// ID is that of the design, see shell.Core.
	ID uint64
	// InBytes and OutBytes are those of a sample and of its results, KHz is the clock.
	InBytes, OutBytes, KHz int
	// Wrong says that the core reports an error, such as weights that are not what they should be.
	Wrong bool
	// Answered counts samples; Broken packets that came damaged, Refused those for which there was no room or no use;
	// Late and Faulty samples for which the core was reset. All since the last reset of the board, and up to 65535.
	Answered, Broken, Refused, Late, Faulty int
}

const (
	infoBytes = 40
	magic     = "LTHE"
	version   = 1
)

// parseInfo reads the payload of tellInfo; false where it is that of something else.
func parseInfo(p []byte) (i Info, ok bool) {
	if len(p) != infoBytes || string(p[:4]) != magic || p[4] != version {
		return i, false
	}
	word := func(at int) int { return int(binary.LittleEndian.Uint32(p[at:])) }
	half := func(at int) int { return int(binary.LittleEndian.Uint16(p[at:])) }
	return Info{ID: binary.LittleEndian.Uint64(p[8:]), Wrong: p[5]&2 != 0, InBytes: word(16), OutBytes: word(20),
		KHz: word(24), Answered: word(28), Broken: half(32), Refused: half(34), Late: half(36), Faulty: half(38)}, true
}
