// SPDX-License-Identifier: Apache-2.0

package nvrtc

import (
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// NVRTC handles some signals itself while its assembler works, and then puts the earlier handlers back by signal(2),
// which loses their flags. Go's handlers need them: without, the next interruption ends the program with a trace
// ("non-Go code set up signal handler without SA_ONSTACK flag").

// handled are those signals.
var handled = [...]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGXFSZ}

// action is room for a struct sigaction of any C library; what is in it only the library reads.
type action [256]byte

// handlers puts the handlers of signals back behind compilations, of which several may run at once.
type handlers struct {
	sigaction func(signal int32, set, old unsafe.Pointer) int32

	mu      sync.Mutex
	running int
	saved   [len(handled)]action
	ok      [len(handled)]bool
}

// bind finds the function; an error is that of the loader.
func (h *handlers) bind() error {
	at, err := purego.Dlsym(purego.RTLD_DEFAULT, "sigaction")
	if err != nil {
		return err
	}
	purego.RegisterFunc(&h.sigaction, at)
	return nil
}

// enter is called before a compilation.
func (h *handlers) enter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.running++; h.running > 1 || h.sigaction == nil {
		return
	}
	for i, s := range handled {
		h.ok[i] = h.sigaction(int32(s), nil, unsafe.Pointer(&h.saved[i])) == 0
	}
}

// leave is called behind a compilation, also while others run.
func (h *handlers) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running--
	for i, s := range handled {
		if h.ok[i] {
			h.sigaction(int32(s), unsafe.Pointer(&h.saved[i]), nil) // cannot fail with what it has given
		}
	}
}
