// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"fmt"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/cudatest"
	"lathe/cuda/ptx"
)

// Swept is what became of the instructions of one kernel, each deleted in turn.
type Swept struct {
	// Instructions are those of the text, Unreached those that the case never executes.
	Instructions, Unreached int
	// Refused are deletions after which the text is no program; Stopped end in an error; Wrong give other results;
	// Survived change nothing.
	Refused, Stopped, Wrong, Survived int
	// Left are the survivors, as text.
	Left []string
}

// String is one line: shares are of the instructions that are executed and can be deleted.
func (s Swept) String() string {
	tried := s.Stopped + s.Wrong + s.Survived
	return fmt.Sprintf("%d instructions, %d unreached, %d cannot be deleted; %d stopped, %d wrong, %d survived: "+
		"%.1f %% caught", s.Instructions, s.Unreached, s.Refused, s.Stopped, s.Wrong, s.Survived,
		100*float64(s.Stopped+s.Wrong)/float64(max(tried, 1)))
}

// Sweep deletes every instruction from the PTX of a case, one at a time, and runs the case in one order with the race
// detector. It reports; it demands nothing, since compilers leave instructions behind that no result depends on.
func Sweep(t testing.TB, c cuda.Case, text []byte) Swept {
	t.Helper()
	lines := strings.Split(string(text), "\n")
	var s Swept
	job := cudatest.JobOf(c, true)
	body := false
	for i, line := range lines {
		body = body || strings.HasPrefix(line, "{")
		sound := strings.TrimSpace(line)
		if !body || !strings.HasSuffix(sound, ";") || strings.HasPrefix(sound, ".") {
			continue
		}
		s.Instructions++
		lines[i] = "\ttrap;"
		if wrong, err := attempt(c, job, lines); wrong == "" && err == nil {
			s.Unreached++
			lines[i] = line
			continue
		}
		lines[i] = ""
		_, refused := ptx.Parse("sweep", []byte(strings.Join(lines, "\n")))
		wrong, err := attempt(c, job, lines)
		switch {
		case refused != nil:
			s.Refused++
		case err != nil:
			s.Stopped++
		case wrong != "":
			s.Wrong++
		default:
			s.Survived++
			s.Left = append(s.Left, sound)
		}
		lines[i] = line
	}
	return s
}

// attempt runs a case, whose job is j, on a text; wrong is its verdict.
func attempt(c cuda.Case, j cudatest.Job, lines []string) (wrong string, err error) {
	mod, err := ptx.Parse("sweep", []byte(strings.Join(lines, "\n")))
	if err != nil {
		return "", err
	}
	out, _, err := j.On(mod, ptx.Options{Races: true, Limit: 1 << 20})
	if err != nil {
		return "", err
	}
	return c.Check(out).Wrong, nil
}
