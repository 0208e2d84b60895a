// SPDX-License-Identifier: Apache-2.0

package board

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"lathe/internal/diag"
)

// TestPackets: what is encoded is read again, and no byte changed, lost or doubled gives another packet.
func TestPackets(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		p := packet{byte(r.Uint32()), r.Uint32(), make([]byte, r.IntN(40))}
		for i := range p.payload {
			p.payload[i] = []byte{mark, escape, escMark, byte(r.Uint32())}[r.IntN(4)]
		}
		text := p.encode()
		if got := (&reader{most: 100}).take(text); len(got) != 1 || !same(got[0], p) {
			t.Fatalf("%+v came back as %+v", p, got)
		}
		at := r.IntN(len(text))
		bad := bytes.Clone(text)
		switch r.IntN(3) {
		case 0:
			bad[at] ^= byte(1 + r.IntN(255))
		case 1:
			bad = append(bad[:at], bad[at+1:]...)
		case 2:
			bad = append(bad[:at:at], append([]byte{bad[at]}, bad[at:]...)...)
		}
		in := &reader{most: 100}
		for _, got := range append(in.take(bad), in.take(p.encode())...) {
			if !same(got, p) {
				t.Fatalf("byte %d of % x: % x became %+v", at, text, bad, got)
			}
		}
		if in.take([]byte{mark}); len(in.raw) > 0 {
			t.Fatal("a packet did not end")
		}
	}
}

func same(a, b packet) bool {
	return a.kind == b.kind && a.number == b.number && bytes.Equal(a.payload, b.payload)
}

// TestNoise: a reader that hears noise keeps no more of it than of a packet.
func TestNoise(t *testing.T) {
	r := &reader{most: 50}
	r.take(bytes.Repeat([]byte{1}, 10_000))
	if len(r.raw) > 101 || r.bytes != 10_000 {
		t.Errorf("%d bytes kept of %d", len(r.raw), r.bytes)
	}
}

// fake is a board in Go: it answers what comes, and may do so as another design after a number of samples.
type fake struct {
	in     reader
	out    []byte
	become int // samples after which the ID is another one, 0: never
	ran    int
	fail   byte // of samples that begin with it, the core is reset
}

func (f *fake) Write(data []byte) (int, error) {
	for _, p := range f.in.take(data) {
		switch p.kind {
		case askReset:
			f.tell(packet{tellReset, p.number, nil})
		case askInfo:
			info := make([]byte, infoBytes)
			copy(info, magic)
			info[4], info[8], info[16], info[20] = version, 7, 2, 2
			if f.become > 0 && f.ran >= f.become {
				info[8] = 8
			}
			binary.LittleEndian.PutUint32(info[28:], uint32(f.ran))
			f.tell(packet{tellInfo, p.number, info})
		case askRun:
			if f.ran++; p.payload[0] == f.fail {
				f.tell(packet{tellFailed, p.number, []byte{1}})
				continue
			}
			f.tell(packet{tellResult, p.number, []byte{p.payload[1], p.payload[0]}})
		}
	}
	return len(data), nil
}

func (f *fake) tell(p packet) { f.out = append(f.out, p.encode()...) }

func (f *fake) Read(data []byte) (int, error) {
	n := copy(data, f.out)
	f.out = f.out[n:]
	return n, nil
}

func open(t *testing.T, f *fake) *Link {
	t.Helper()
	l, err := Open(t.Context(), f, Options{Name: "fake", Tries: 3, Timeout: time.Millisecond, First: 9, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRun: results come in the order of the samples; a board that changes, or fails, is an error.
func TestRun(t *testing.T) {
	f := &fake{in: reader{most: 100}, fail: 0xff}
	l := open(t, f)
	if err := l.Is(7, 2, 2); err != nil {
		t.Error(err)
	}
	if err := l.Is(8, 2, 2); diag.CodeOf(err) != diag.BoardDesign {
		t.Error(err)
	}
	results, err := l.Run(t.Context(), [][]byte{{1, 2}, {3, 4}, {5, 6}}, nil)
	if err != nil || !bytes.Equal(bytes.Join(results, nil), []byte{2, 1, 4, 3, 6, 5}) || l.Info().Answered != 3 {
		t.Errorf("%x, %+v, %v", results, l.Info(), err)
	}
	if _, err := l.Run(t.Context(), [][]byte{{1, 2}, {0xff, 4}}, nil); diag.CodeOf(err) != diag.BoardFailed {
		t.Error(err)
	}
	f.become = f.ran + 2
	if _, err := l.Run(t.Context(), [][]byte{{1, 2}, {3, 4}}, nil); diag.CodeOf(err) != diag.BoardDesign {
		t.Error(err)
	}
}

// slow is a board in Go that takes some time for a sample, has room for one more meanwhile, and drops others.
type slow struct {
	fake
	clock time.Time
	each  time.Duration
	ready time.Time // when the first of held is done
	held  []packet
}

func (s *slow) now() time.Time { return s.clock }

func (s *slow) Write(data []byte) (int, error) {
	for _, p := range s.in.take(data) {
		if p.kind != askRun {
			if _, err := s.fake.Write(p.encode()); err != nil {
				return 0, err
			}
			continue
		}
		if len(s.held) == 0 {
			s.ready = s.clock.Add(s.each)
		}
		if len(s.held) < 2 {
			s.held = append(s.held, p)
		}
	}
	return len(data), nil
}

func (s *slow) Read(data []byte) (int, error) {
	s.clock = s.clock.Add(10 * time.Millisecond)
	if len(s.held) > 0 && !s.clock.Before(s.ready) {
		p := s.held[0]
		s.held, s.ready = s.held[1:], s.clock.Add(s.each)
		s.tell(packet{tellResult, p.number, p.payload})
	}
	return s.fake.Read(data)
}

// TestSlow: a sample has the time of an answer for itself, not together with the one in front of it.
func TestSlow(t *testing.T) {
	s := &slow{fake: fake{in: reader{most: 100}}, each: 800 * time.Millisecond}
	l, err := Open(t.Context(), s, Options{Name: "slow", Timeout: time.Second, Now: s.now})
	if err != nil {
		t.Fatal(err)
	}
	frames := [][]byte{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}}
	results, err := l.Run(t.Context(), frames, nil)
	if err != nil || !bytes.Equal(bytes.Join(results, nil), bytes.Join(frames, nil)) || l.Again != 0 {
		t.Errorf("%x, %d sent again, %v", results, l.Again, err)
	}
}
