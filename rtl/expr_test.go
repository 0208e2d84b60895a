// SPDX-License-Identifier: Apache-2.0

package rtl

import (
	"testing"

	"lathe/internal/diag"
)

func TestExpr(t *testing.T) {
	params := map[string]int{"N": 5, "W": 8, "ONE": 1}
	for text, want := range map[string]int{
		"7":                          7,
		"N*W + 2":                    42,
		"(N-1)/3 - -2":               3,
		"N % 3":                      2,
		"clog2(N)":                   3,
		"$clog2(W)":                  3,
		"clog2(ONE)":                 0,
		"clog2(0)":                   0,
		"max(N, W, 2) - min(N, W)":   3,
		"N > 4 ? W : 1":              8,
		"N<4?W:N==5?2:3":             2,
		"(N < 4 ? W : 1) - 1":        0,
		"max(N>4 ? 1 : 2, 0)":        1,
		"N != 5 || W >= 8 && W <= 8": 1,
		"N == 5 ? 1 : 1/0":           1,
		"N < 4 ? N < 2 ? 1 : 2 : 3":  3,
		"N > 4 ? N < 2 ? 1 : 2 : 3":  2,
		"N > 4 ? N > 2 ? 1 : 2 : 3":  1,
		"1 << (N - 2) + (W >> 1)":    12,
		"N<6 ? max(1?2:3, 0) : 9":    2,
	} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := e.Eval(params); err != nil || got != want {
			t.Errorf("%s = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestExprErrors(t *testing.T) {
	for _, text := range []string{"", "N +", "N ? 1", "3 4"} {
		if _, err := ParseExpr(text); diag.CodeOf(err) != "L0603" {
			t.Errorf("%q parses: %v", text, err)
		}
	}
	for _, text := range []string{"M", "N/(N-N)", "N % 0", "sqrt(N)", "max()", "N.x", "\"a\"", "1.5", "^N", "N & 1",
		"1 << 63"} {
		e, err := ParseExpr(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if v, err := e.Eval(map[string]int{"N": 5}); diag.CodeOf(err) != "L0603" {
			t.Errorf("%q = %d, %v", text, v, err)
		}
	}
	if _, err := (Expr{}).Eval(nil); diag.CodeOf(err) != "L0603" {
		t.Errorf("the empty expression: %v", err)
	}
}
