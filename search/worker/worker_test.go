// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
)

// TestProcess: a process answers request after request, and hears replies; one that ends says how, one that takes too
// long is ended with all that it has started.
func TestProcess(t *testing.T) {
	start := func(script string) *Process {
		t.Helper()
		p, err := Start("/bin/sh", "-c", script)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := start(`while read a; do echo '{"step":1}'; read b; echo "{\"got\":$a$b}"; done`)
	for range 2 {
		var heard []string
		err := p.Do(t.Context(), 4, func(answer json.RawMessage) (any, bool, error) {
			heard = append(heard, string(answer))
			return 2, len(heard) == 2, nil
		})
		if got := strings.Join(heard, " "); err != nil || got != `{"step":1} {"got":42}` {
			t.Errorf("%s, %v", got, err)
		}
	}
	if how := p.Close(); how != "exit status 0" {
		t.Error(how)
	}
	once := func(json.RawMessage) (any, bool, error) { return nil, true, nil }
	for script, want := range map[string]string{
		`read a; echo "panic: out of luck" >&2; echo more >&2; exit 2`: "exit status 2: panic: out of luck",
		`read a; kill -9 $$`:           "signal: killed",
		`read a; echo no JSON; exit 0`: "exit status 0",
	} {
		var gone *Gone
		if err := start(script).Do(t.Context(), 1, once); !errors.As(err, &gone) || gone.How != want {
			t.Errorf("%s: %v", script, err)
		}
	}
	late := errors.New("late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	begin := time.Now()
	if err := start(`sleep 20 & sleep 20; echo 1`).Do(ctx, 1, once); !errors.Is(err, late) {
		t.Error(err)
	}
	if time.Since(begin) > 5*time.Second {
		t.Error("it was waited for")
	}
}
