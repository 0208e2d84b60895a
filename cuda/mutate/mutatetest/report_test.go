// SPDX-License-Identifier: Apache-2.0

package mutatetest

import (
	"slices"
	"strings"
	"testing"

	"lathe/cuda"
	"lathe/cuda/mutate"
)

// Every fault that docs/mutation.md excuses can still be planted, and has a reason.
func TestExcuses(t *testing.T) {
	excused, err := readExcuses("../../../docs/mutation.md")
	if err != nil || len(excused) < 5 {
		t.Fatalf("%d excuses, %v", len(excused), err)
	}
	for key, reason := range excused {
		file, id, _ := strings.Cut(key, " ")
		text, err := cuda.Text(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.ContainsFunc(mutate.Mutants(text), func(m mutate.Mutant) bool { return m.ID() == id }) || reason == "" {
			t.Errorf("%s: no such fault: %s", file, id)
		}
	}
}

// A report counts what compiles, leaves out what changes nothing, and fails below the goal and on excuses that are not.
func TestReport(t *testing.T) {
	fault := func(rule string, o outcome) result {
		return result{planting: planting{file: "map/a.cu", mutant: mutate.Mutant{Rule: rule}}, outcome: o}
	}
	harmless := fault("harmless", survived)
	all := []result{fault("a", values), fault("b", race), fault("c", survived), harmless, fault("d", refused)}
	excused := map[string]string{harmless.key(): "equal"}
	var out strings.Builder
	if err := report(&out, all, excused, 60); err != nil || !strings.Contains(out.String(), "66.7 %") {
		t.Errorf("%v\n%s", err, out.String())
	}
	if err := report(&out, all, excused, 70); err == nil || !strings.Contains(err.Error(), "the goal is 70") {
		t.Errorf("below the goal: %v", err)
	}
	excused[all[0].key()] = "wrong"
	if err := report(&out, all, excused, 0); err == nil || !strings.Contains(err.Error(), "excused, but caught") {
		t.Errorf("a false excuse: %v", err)
	}
	delete(excused, all[0].key())
	lost := append(slices.Clone(all), fault("e", untried))
	if err := report(&out, lost, excused, 0); err == nil || !strings.Contains(err.Error(), "1 faults could not be tried") {
		t.Errorf("one was not tried: %v", err)
	}
	if n := count(append(all, fault("f", strange), fault("g", endless)), excused, ""); n.faults != 5 || n.score() != 75 {
		t.Errorf("%d faults, %g %%", n.faults, n.score())
	}
	if err := report(&out, nil, nil, 0); err == nil {
		t.Error("nothing tried, and no error")
	}
}
