// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"lathe/internal/tools"
)

// TestSignals: every signal is handled as before once compilations have ended, also where several ran at once.
func TestSignals(t *testing.T) {
	c, err := Open(tools.NeedNVRTC(t), "")
	if err != nil {
		t.Fatal(err)
	}
	actions := func() (all [32]string) { // handler and flags, where Linux's C libraries have them; the rest may be noise
		for n := range all {
			var a action
			c.api.signals.sigaction(int32(n), nil, unsafe.Pointer(&a)) // 0 is no signal
			all[n] = fmt.Sprintf("%x %x", a[:8], a[136:140])
		}
		return all
	}
	before := actions()
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			source := fmt.Sprintf("extern \"C\" __global__ void k(int* p) { *p = %d; }", i)
			if _, err := c.Compile(t.Context(), "k.cu", source, "sm_80"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for n, a := range actions() {
		if a != before[n] {
			t.Errorf("signal %d is handled by %s, not %s as before", n, a, before[n])
		}
	}
}
