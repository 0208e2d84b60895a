// SPDX-License-Identifier: Apache-2.0

package errortest

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lathe/internal/diag"
	"lathe/internal/refusals"
)

var update = flag.Bool("update", false, "write the messages of the refusals")

// refusalRows is how many there are.
const refusalRows = 40

// TestRefusals carries out the table of refusals: what is refused has its message, which names what the user does next,
// and that succeeds.
func TestRefusals(t *testing.T) {
	all, err := refusals.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != refusalRows {
		t.Errorf("%d rows, not %d", len(all), refusalRows)
	}
	known := map[diag.Code]bool{}
	for _, e := range diag.Catalogue() {
		known[e.Code] = true
	}
	titles := map[string]bool{}
	for _, r := range all {
		if titles[r.Title] {
			t.Errorf("%s: two rows are called %q", r.File, r.Title)
		}
		titles[r.Title] = true
		t.Run(r.File, func(t *testing.T) {
			t.Parallel()
			tryRefusal(t, r)
			if *update {
				return
			}
			if !known[r.Code()] {
				t.Errorf("no code of the catalogue in %q", r.Message)
			}
			if unsaid := r.Unsaid(); unsaid != "" {
				t.Errorf("the message says nothing of what is done next: %s\n%s", unsaid, r.Message)
			}
		})
	}
}

// progress finds lines that say what is being done, which depend on how long it takes.
var progress = regexp.MustCompile(`(?m)^[A-Za-z ]+( \.\.\.| [0-9]+ of [0-9]+.*)\n`)

// tryRefusal runs the commands of a row in a folder of its own.
func tryRefusal(t *testing.T, r refusals.Refusal) {
	dir := t.TempDir()
	link(t, dir)
	for _, f := range r.Files {
		if !strings.HasPrefix(f.Name, refusals.Then) {
			writeExample(t, filepath.Join(dir, f.Name), f.Data)
		}
	}
	succeed := func(lines []string) {
		for _, line := range lines {
			if said, err := command(t, dir, line); err != nil {
				t.Fatalf("%s\n%v\n%s", line, err, said)
			}
		}
	}
	succeed(r.Before)
	said, err := command(t, dir, r.Command)
	if said = strings.TrimSpace(progress.ReplaceAllString(said, "")); err == nil {
		t.Fatalf("%s is not refused:\n%s", r.Command, said)
	}
	if *update {
		r.Message = said
		if err := os.WriteFile(filepath.Join("..", "refusals", "rows", r.File), r.Text(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if said != r.Message {
		t.Errorf("%s says\n%s\nnot\n%s", r.Command, said, r.Message)
	}
	for _, f := range r.Files {
		if name, changed := strings.CutPrefix(f.Name, refusals.Then); changed {
			path := filepath.Join(dir, name)
			if err := os.RemoveAll(path); err != nil { // it may be a link to a fixture
				t.Fatal(err)
			}
			writeExample(t, path, f.Data)
		}
	}
	succeed(r.Next)
}
