// SPDX-License-Identifier: Apache-2.0

package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"lathe/internal/diag"
)

// TestFailures: unsupported operations come first, in order and with the first places; errors keep codes and positions
// of their own.
func TestFailures(t *testing.T) {
	var f Failures
	none := func(string) string { return "" }
	if err := f.Err("m", none, "hint"); err != nil {
		t.Fatal(err)
	}
	f.Report(diag.New(diag.OperandShapes, "m: y", "does not fit"), diag.UnsupportedForm, "m")
	f.Report(errors.New("plain"), diag.UnsupportedForm, "m: z")
	f.Unknown("Rleu", "a")
	err := f.Err("m", none, "")
	if err == nil || !strings.HasPrefix(err.Error(), "m: L0207: operation Rleu is not supported\n") {
		t.Error(err)
	}
	for _, place := range []string{"b", "c", "d"} {
		f.Unknown("Quant", "q"+place)
		f.Unknown("Rleu", place)
	}
	want := `m: L0207: 2 operations in 7 places are not supported
  note: Rleu: 4 times, first at a, b, c; nearest supported operation: Relu
  note: Quant: at qb, qc, qd
  hint: read on
m: y: L0222: does not fit
m: z: L0208: plain`
	near := func(op string) string { return map[string]string{"Rleu": "Relu"}[op] }
	if err := f.Err("m", near, "read on"); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if f.Reported() != 4 {
		t.Errorf("%d reported", f.Reported())
	}
}

// TestManyFailures: the lists are bounded, and an error that is kept is not changed by that.
func TestManyFailures(t *testing.T) {
	var f Failures
	shared := diag.New(diag.OperandShapes, "m: y", "does not fit")
	for i := range 3 * MaxErrors {
		f.Report(shared, diag.UnsupportedForm, "m")
		f.Unknown(fmt.Sprintf("Op%d", i), "x")
	}
	err := f.Err("m", func(string) string { return "" }, "")
	var list diag.List
	if !errors.As(err, &list) || len(list) != MaxErrors+1 || len(list[0].Notes) != MaxErrors+1 || len(shared.Notes) != 0 {
		t.Fatal(err)
	}
	for _, want := range []string{"and 40 more operations", "and 40 more errors"} {
		if strings.Count(err.Error(), want) != 1 {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}
