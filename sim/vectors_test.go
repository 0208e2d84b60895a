// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestPackUnpack(t *testing.T) {
	if got := Pack([]int64{-1, 2, 3, 4}, 2, 5); !bytes.Equal(got, []byte{0x5f, 0, 0x83, 0}) {
		t.Errorf("Pack = %x", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		lanes, width := rapid.IntRange(1, 9).Draw(t, "lanes"), rapid.IntRange(1, 64).Draw(t, "width")
		signed := rapid.Bool().Draw(t, "signed")
		codes := make([]int64, lanes*rapid.IntRange(0, 5).Draw(t, "beats"))
		large := make([]*big.Int, len(codes))
		for i := range codes {
			v := rapid.Int64().Draw(t, "code") >> (64 - width)
			if !signed && width < 64 {
				v &= 1<<width - 1
			}
			codes[i], large[i] = v, big.NewInt(v)
		}
		stream := Pack(codes, lanes, width)
		if !bytes.Equal(stream, PackBig(large, lanes, width)) {
			t.Fatal("Pack and PackBig differ")
		}
		bigs := UnpackBig(stream, lanes, width, true)
		for i, v := range Unpack(stream, lanes, width, signed) {
			if v != codes[i] || bigs[i].Int64() != codes[i]<<(64-width)>>(64-width) {
				t.Fatalf("code %d: %d became %d and %s", i, codes[i], v, bigs[i])
			}
		}
	})
}

// TestGroupsEndEarly: in every run with stalls a group ends before it is full.
func TestGroupsEndEarly(t *testing.T) {
	for seed := range uint64(200) {
		group := 2 + int(seed%5)
		kinds := groups(group+int(seed%7), group, Input{Seed: seed, Idle: []Stall{{}}})
		early, at := false, 0
		for _, k := range kinds {
			at = (at + 1) % group
			if k&Closes != 0 {
				early, at = early || at != 0, 0
			}
		}
		if !early || kinds[len(kinds)-1] != Ends|Closes {
			t.Errorf("seed %d, groups of %d: %v", seed, group, kinds)
		}
	}
}
