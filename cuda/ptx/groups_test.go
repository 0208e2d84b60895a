// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"strings"
	"testing"

	"lathe/internal/diag"
)

// halves makes %r0 the mask of the lane's own half of the warp.
const halves = "setp.lt.u32 %p1, %lane, 16; selp.b32 %r0, 0xffff, 0xffff0000, %p1;"

// TestGroups runs .sync instructions at one place by two halves of a warp, which know nothing of each other.
func TestGroups(t *testing.T) {
	half := func(t, low, high int) uint32 {
		if t%32 < 16 {
			return uint32(low)
		}
		return uint32(high)
	}
	for _, c := range []struct {
		name, body string
		want       func(t int) uint32
	}{
		{"ballot", "and.b32 %r1, %lane, 1; setp.eq.u32 %p2, %r1, 0; vote.sync.ballot.b32 %o0, %p2, %r0;",
			func(t int) uint32 { return half(t, 0x5555, 0x55550000) }},
		{"any", "setp.eq.u32 %p2, %lane, 3; vote.sync.any.pred %p3, %p2, %r0; selp.b32 %o0, 1, 0, %p3;",
			func(t int) uint32 { return half(t, 1, 0) }},
		{"sum", "redux.sync.add.u32 %o0, %lane, %r0;", func(t int) uint32 { return half(t, 120, 376) }},
		{"match", "mov.b32 %r1, 7; match.any.sync.b32 %o0, %r1, %r0;",
			func(t int) uint32 { return half(t, 0xFFFF, 0xFFFF0000) }},
		{"elect", "elect.sync %o0|%p2, %r0;", func(t int) uint32 { return half(t, 0, 16) }},
		{"a mask that is overwritten", "mov.b32 %o0, %r0; redux.sync.add.u32 %o0, %lane, %o0;",
			func(t int) uint32 { return half(t, 120, 376) }},
	} {
		got, err := words(t, halves+c.body, 64, hash, Options{Races: true, Lanes: true})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for i := range got {
			if want := c.want(i); got[i][0] != want {
				t.Errorf("%s: thread %d has %#x, not %#x", c.name, i, got[i][0], want)
				break
			}
		}
	}
	for _, c := range []struct{ name, body, says string }{
		{"a lane of the other half", halves + "shfl.sync.bfly.b32 %o0, %lane, 16, 31, %r0;", "does not take part"},
		{"masks that overlap", "setp.lt.u32 %p1, %lane, 16; selp.b32 %r0, 0xffff, 0xffffffff, %p1;" +
			"redux.sync.add.u32 %o0, %lane, %r0;", "whose masks are others"},
	} {
		_, err := words(t, c.body, 64, hash, Options{})
		if diag.CodeOf(err) != "L0966" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestHalfMeets has some lanes of a warp meet: what they did before is ordered for them, and for no others.
func TestHalfMeets(t *testing.T) {
	const store = "mov.u32 %r1, part; mad.lo.u32 %r2, %t, 4, %r1; st.shared.b32 [%r2], %v;" + halves
	for _, c := range []struct {
		name, body string
		code       diag.Code
	}{
		{"the neighbour", store + "bar.warp.sync %r0; xor.b32 %r3, %r2, 4; ld.shared.b32 %o0, [%r3];", ""},
		{"the other half", store + "bar.warp.sync %r0; xor.b32 %r3, %r2, 64; ld.shared.b32 %o0, [%r3];", "L0967"},
		{"all, later", store + "bar.warp.sync %r0; bar.warp.sync -1; xor.b32 %r3, %r2, 64; ld.shared.b32 %o0, [%r3];", ""},
		{"one store after the other", "mov.u32 %r1, part; mov.b32 %r2, 0; L: setp.eq.u32 %p1, %r2, %lane;" +
			"@%p1 st.shared.b32 [%r1], %t; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 2; @%p2 bra L;", "L0967"},
	} {
		_, err := words(t, c.body, 32, hash, Options{Races: true, Lanes: true})
		if diag.CodeOf(err) != c.code {
			t.Errorf("%s: %v, not %q", c.name, err, c.code)
		}
	}
}

// TestAtomicOrder has two warps touch a word atomically, and one of them plainly: whether that is a race does not
// depend on which came first.
func TestAtomicOrder(t *testing.T) {
	const start = "mov.u32 %r1, part; setp.eq.u32 %p1, %t, 0; @%p1 st.shared.b32 [%r1], 0; bar.sync 0;" +
		"setp.eq.u32 %p2, %lane, 0;"
	for _, c := range []struct {
		name, body string
		code       diag.Code
	}{
		{"a plain read after both", "@%p2 atom.shared.add.u32 %r2, [%r1], 1; @!%p3 bra E;" +
			"@%p2 ld.shared.b32 %o0, [%r1]; E:", "L0967"},
		{"one polls what the other writes", "@%p3 bra R; st.volatile.shared.u32 [%r1], 1; bra E;" +
			"R: ld.volatile.shared.u32 %o0, [%r1]; E:", ""},
		{"a plain write after an atomic one", "@%p3 bra R; @%p2 atom.shared.add.u32 %r2, [%r1], 1; bra E;" +
			"R: @%p2 st.shared.u32 [%r1], 7; E:", "L0967"},
		{"a plain read before an atomic write", "@%p3 bra R; @%p2 atom.shared.add.u32 %r2, [%r1], 1; bra E;" +
			"R: @%p2 ld.shared.u32 %o0, [%r1]; E:", "L0967"},
	} {
		for _, who := range []string{"lt", "ge"} {
			for _, s := range []Schedule{RoundRobin, RunAhead, Reverse} {
				body := start + "setp." + who + ".u32 %p3, %t, 32;" + c.body
				_, err := words(t, body, 64, hash, Options{Races: true, Schedule: s})
				if diag.CodeOf(err) != c.code {
					t.Errorf("%s, %s, %v: %v, not %q", c.name, who, s, err, c.code)
				}
			}
		}
	}
}

// TestBarrierCounts lets warps of a block meet where some say how many threads it has, and others do not.
func TestBarrierCounts(t *testing.T) {
	const body = "setp.lt.u32 %p1, %t, 32; @%p1 bra L; bar.sync 0, COUNT; bra E; L: bar.sync 0; E:"
	for _, c := range []struct {
		count string
		code  diag.Code
	}{{"64", ""}, {"96", "L0972"}} {
		for _, s := range []Schedule{RoundRobin, Reverse} {
			_, err := words(t, strings.ReplaceAll(body, "COUNT", c.count), 64, hash, Options{Schedule: s})
			if diag.CodeOf(err) != c.code {
				t.Errorf("%s threads: %v, not %q", c.count, err, c.code)
			}
		}
	}
}
