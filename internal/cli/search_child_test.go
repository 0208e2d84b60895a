// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lathe/search"
	"lathe/search/sampler"
	"lathe/search/storage/memory"
)

// TestIsolated: a trial that kills two processes fails and says how, one that kills one is tried again, one that takes
// too long fails, and a process that answers is asked again; what it revises is kept.
func TestIsolated(t *testing.T) {
	ctx, s := t.Context(), memory.New()
	id, err := s.CreateStudy(ctx, "s", []search.Direction{search.Minimize})
	if err != nil {
		t.Fatal(err)
	}
	q := &queue{searchStudy: &searchStudy{Study: &search.Study{Storage: s, Sampler: sampler.NewRandom(0),
		Info:  &search.StudyInfo{ID: id, Name: "s", Directions: []search.Direction{search.Minimize}},
		Space: search.Space{{Name: "w", Dist: search.NewInt(1, 9, 1, false)}}}}}
	once := filepath.Join(t.TempDir(), "once")
	answers := `while read a; do echo '{"revised":{"w":3}}'; read b; ` +
		`echo '{"step":{"step":1,"value":0.5}}'; read b; echo '{"state":1,"values":[7]}'; done`
	for i, c := range []struct{ script, want string }{
		{answers, "COMPLETE [7] "},
		{`read a; kill -9 $$`, "FAIL [] it killed 2 processes, and is left alone: signal: killed"},
		{`[ -e ` + once + ` ] || { touch ` + once + `; echo "fatal error: no memory" >&2; exit 2; }; ` + answers,
			"COMPLETE [7] "},
		{`read a; sleep 20`, "FAIL [] it took longer than --trial-time"},
	} {
		trial, err := q.Ask(ctx)
		if err != nil {
			t.Fatal(err)
		}
		h := &helper{isolation: &isolation{path: "/bin/sh", args: []string{"-c", c.script}}}
		if i == 3 {
			h.most = 50 * time.Millisecond
		}
		o, err := q.isolated(ctx, trial, h)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%v %v %s", o.State, o.Values, o.Refused); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
		kept, err := q.Trial(ctx, trial.Number)
		if err != nil {
			t.Fatal(err)
		}
		if said := o.State == search.Complete; said != (kept.User[drawnKey] != nil) || said && (kept.Params[0].Value != 3 ||
			len(kept.Steps) != 1) {
			t.Errorf("trial %d: %+v", i, kept)
		}
		h.end()
	}
	if _, err := os.Stat(once); err != nil {
		t.Error(err)
	}
}
