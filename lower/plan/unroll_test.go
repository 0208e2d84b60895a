// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
)

// TestDigits reads the bits of digits, and refuses others with the nearest.
func TestDigits(t *testing.T) {
	p, err := Parse("p", []byte("[fold]\nmode = \"unroll\"\n[unroll]\ndigits = 2\n"))
	if err != nil || p.Fold.Sums.Digits != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	for text, want := range map[string]string{"3": "use 4", "0": "use 1", "9": "use 4"} {
		_, err := Parse("p", []byte("[unroll]\ndigits = "+text+"\n"))
		if err == nil || !strings.Contains(err.Error(), "L0402: digits = "+text+" is none of 1, 2, 4") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
