// SPDX-License-Identifier: Apache-2.0

package searchtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"lathe/internal/diag"
	"lathe/search"
)

// Conform holds a storage to what another one does: the same random operations must have the same results and the same
// refusals, and leave the same studies. again opens the first storage anew; nil where it cannot be opened twice.
func Conform(t *testing.T, s, model search.Storage, again func() search.Storage, operations int, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	var a, b []search.StudyID // IDs of the same studies
	for k := range operations {
		o := operation(r, len(a))
		x, errX := o.run(s, at(a, o.study))
		y, errY := o.run(model, at(b, o.study))
		if diag.CodeOf(errX) != diag.CodeOf(errY) || errX != nil && diag.CodeOf(errX) == "" {
			t.Fatalf("seed %d, operation %d, %s: %v, but the model says %v", seed, k, o.what, errX, errY)
		}
		if o.what == "create" && errX == nil {
			a, b = append(a, x), append(b, y)
		}
		if o.what == "delete" && errX == nil { // another study may get its ID
			a[o.study], b[o.study] = gone, gone
		}
		if k%97 == 0 && again != nil {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = again()
		}
	}
	for i := range a {
		if x, y := Dump(t, s, a[i]), Dump(t, model, b[i]); x != y {
			t.Fatalf("seed %d, study %d:\n%s\nbut the model has\n%s", seed, i, x, y)
		}
	}
}

func at(ids []search.StudyID, i int) search.StudyID {
	if i < len(ids) {
		return ids[i]
	}
	return gone
}

// gone is the ID of no study.
const gone search.StudyID = 1 << 20

// doing is one operation.
type doing struct {
	what   string
	study  int
	name   string
	ways   []search.Direction
	number int
	change search.Change
	trial  search.Trial
	attrs  []search.Attr
}

var (
	dists = []*search.Distribution{search.NewFloat(-1, 1, 0, false), search.NewFloat(1e-3, 1, 0, true),
		search.NewInt(4, 32, 4, false), search.NewWords("fixed", "mxint8", "süß \"x\"\\"),
		search.NewChoice("1", "null", "true")}
	epoch = time.Date(2026, 1, 2, 3, 4, 5, 678000, time.UTC)
)

// operation draws one for some of so many studies, or for one that is not there.
func operation(r *rand.Rand, studies int) *doing {
	o := &doing{study: r.IntN(studies + 1), number: r.IntN(12)}
	if studies > 0 && r.IntN(20) > 0 {
		o.study = r.IntN(studies)
	}
	switch k := r.IntN(40); {
	case k < 2 || studies == 0:
		o.what, o.name = "create", fmt.Sprintf("study %d", r.IntN(8))
		for range 1 + r.IntN(3) {
			o.ways = append(o.ways, search.Direction(1+r.IntN(2)))
		}
	case k == 2 && r.IntN(4) == 0:
		o.what = "delete"
	case k < 6:
		o.what, o.attrs = "study attributes", attrs(r)
	case k < 14:
		o.what, o.trial = "trial", *trial(r)
	default:
		o.what, o.change = "change", change(r)
	}
	return o
}

func attrs(r *rand.Rand) []search.Attr {
	var out []search.Attr
	for range r.IntN(3) {
		values := []string{"1", "-2.5", `"a\"b\nü"`, "[1,2,[]]", `{"k":null}`, "true"}
		out = append(out, search.Attr{System: r.IntN(2) == 0, Key: fmt.Sprintf("key %d", r.IntN(4)),
			Value: json.RawMessage(values[r.IntN(len(values))])})
	}
	return out
}

func params(r *rand.Rand) []search.Param {
	var out []search.Param
	for i, d := range dists {
		if r.IntN(2) == 0 {
			v := []float64{0.25, 0.0078125, 12, float64(r.IntN(3)), float64(r.IntN(3))}
			out = append(out, search.Param{Name: fmt.Sprintf("p%d", i), Dist: d, Value: v[i]})
		}
	}
	return out
}

func steps(r *rand.Rand) []search.Step {
	var out []search.Step
	for range r.IntN(3) {
		values := []float64{1.5, -3, math.NaN(), math.Inf(1), 1e-300}
		out = append(out, search.Step{Step: r.IntN(5), Value: values[r.IntN(len(values))]})
	}
	return out
}

func trial(r *rand.Rand) *search.Trial {
	t := &search.Trial{State: search.Running, Start: epoch.Add(time.Duration(r.IntN(100)) * time.Second)}
	if r.IntN(3) == 0 {
		t.State, t.Start = search.Waiting, time.Time{}
	}
	for _, p := range params(r) {
		t.SetParam(p)
	}
	for _, a := range attrs(r) {
		t.Set(a)
	}
	for _, s := range steps(r) {
		t.Report(s)
	}
	return t
}

func change(r *rand.Rand) search.Change {
	c := search.Change{Params: params(r), Steps: steps(r), Attrs: attrs(r)}
	if a := attrs(r); len(a) > 0 && r.IntN(2) == 0 {
		c.If = &a[0]
	}
	if r.IntN(3) == 0 {
		states := []search.State{search.Running, search.Complete, search.Pruned, search.Fail}
		s := states[r.IntN(len(states))]
		c.State, c.At = &s, epoch.Add(time.Duration(r.IntN(100))*time.Minute)
		if s == search.Complete {
			c.Values = []float64{0.5, math.Inf(-1), float64(r.IntN(9))}[:1+r.IntN(3)]
		}
	}
	return c
}

// run does the operation.
func (o *doing) run(s search.Storage, id search.StudyID) (search.StudyID, error) {
	ctx := context.Background()
	switch o.what {
	case "create":
		return s.CreateStudy(ctx, o.name, o.ways)
	case "delete":
		return 0, s.DeleteStudy(ctx, id)
	case "study attributes":
		return 0, s.SetStudy(ctx, id, o.attrs...)
	case "trial":
		_, err := s.CreateTrial(ctx, id, func(t *search.Trial) error {
			c := o.trial.Clone()
			c.ID, c.Number = t.ID, t.Number
			*t = *c
			return nil
		})
		return 0, err
	}
	return 0, s.UpdateTrial(ctx, id, o.number, o.change)
}

// Dump is all of a study as text, but its ID.
func Dump(t *testing.T, s search.Storage, id search.StudyID) string {
	t.Helper()
	ctx := context.Background()
	all, err := s.Studies(ctx)
	if err != nil {
		t.Fatal(err)
	}
	text := "no study"
	for _, info := range all {
		if info.ID == id {
			text = fmt.Sprint(info.Name, info.Directions, texts(info.User), texts(info.System), "\n")
		}
	}
	trials, err := s.Trials(ctx, id, 0, nil)
	if diag.CodeOf(err) == diag.UnknownStudy {
		return text
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range trials {
		text += fmt.Sprint(n.Number, n.State, n.Values, n.Steps, texts(n.User), texts(n.System), n.Start.UTC(),
			n.End.UTC(), " ")
		for _, p := range n.Params {
			text += fmt.Sprintf("%s=%v of %v ", p.Name, p.Value, p.Dist)
		}
		text += "\n"
	}
	return text
}

func texts(a search.Attributes) map[string]string {
	out := map[string]string{}
	for k, v := range a {
		out[k] = string(v)
	}
	return out
}
