// SPDX-License-Identifier: Apache-2.0

package op_test

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lathe/internal/tools"
	"lathe/rtl"
	"lathe/rtl/rtltest"
)

// planted counts the faults of each test.
var planted sync.Map

// broken replaces a piece of a library file by a fault and demands that the bench finds it. The file belongs to the
// module of the bench, or, where that is its own, to those that it names. Only a long run simulates all faults; others
// take the first, the fourth and so on of a test.
func broken(t *testing.T, file, old, fault string, bench func() rtltest.Bench, inside ...string) {
	t.Helper()
	count, _ := planted.LoadOrStore(t.Name(), new(atomic.Int64))
	taken := count.(*atomic.Int64).Add(1)%3 == 1 || tools.Long
	b := bench()
	if inside == nil {
		inside = []string{strings.TrimPrefix(b.Module, "sets_of_")}
	}
	files, err := rtl.Files(inside...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name != file {
			continue
		}
		if bytes.Count(f.Data, []byte(old)) == 0 {
			t.Fatalf("%s does not hold %q", file, old)
		}
		f.Data = bytes.Replace(f.Data, []byte(old), []byte(fault), 1)
		b.Files = append(b.Files, f)
	}
	if taken {
		rtltest.RunBroken(t, file+": "+fault, b)
	}
}
