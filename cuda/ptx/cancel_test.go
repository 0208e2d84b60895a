// SPDX-License-Identifier: Apache-2.0

package ptx

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestCancel ends kernels that have no end: one that yields its turn and one that never does, on all workers.
func TestCancel(t *testing.T) {
	for _, body := range []string{
		"L: st.global.b32 [%out], %o0; bra L;",
		"L: add.s32 %o0, %o0, 1; bra L;",
	} {
		mod, err := Parse("k.ptx", snippet(body))
		if err != nil {
			t.Fatal(err)
		}
		cancel := make(chan struct{})
		m := NewMachine(Options{Cancel: cancel, Workers: 2})
		a, y := put(t, m, "in", make([]byte, 4*64)), put(t, m, "out", make([]byte, 16*64))
		k := mod.Kernel("k")
		ended := make(chan error)
		go func() {
			_, err := m.Launch(k, [3]uint32{4, 1, 1}, [3]uint32{64, 1, 1}, 1024, params(k, a, y))
			ended <- err
		}()
		select {
		case err := <-ended:
			t.Fatalf("%s: ended by itself: %v", body, err)
		case <-time.After(20 * time.Millisecond):
		}
		close(cancel)
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", body, err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: goes on after it was cancelled", body)
		}
	}
}
