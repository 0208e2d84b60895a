// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lathe/internal/diag"
)

// Copy makes a study of a storage anew in another one, under a name, with all its trials under the same numbers.
// Error L1106 where that has a study of the name; then nothing is made.
func Copy(ctx context.Context, from Storage, info *StudyInfo, to Storage, name string) (trials int, err error) {
	list, err := from.Trials(ctx, info.ID, 0, nil)
	if err != nil {
		return 0, err
	}
	id, err := to.CreateStudy(ctx, name, info.Directions)
	if err != nil {
		return 0, err
	}
	if err := to.SetStudy(ctx, id, append(info.User.List(false), info.System.List(true)...)...); err != nil {
		return 0, err
	}
	for _, t := range list {
		if err := copyTrial(ctx, to, id, t); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}

// copyTrial makes a trial, and ends it where it has ended.
func copyTrial(ctx context.Context, to Storage, id StudyID, t *Trial) error {
	made, err := to.CreateTrial(ctx, id, func(n *Trial) error {
		if n.Number != t.Number {
			return diag.New(diag.StudyStorage, "", "trial %d has become %d: another program writes into the copy", t.Number,
				n.Number)
		}
		c := t.Clone()
		c.ID, c.Number, c.Values, c.End = n.ID, n.Number, nil, n.End
		if c.State.Finished() {
			c.State = Running
		}
		*n = *c
		return nil
	})
	if err != nil || !t.State.Finished() {
		return err
	}
	return to.UpdateTrial(ctx, id, made.Number, Change{State: &t.State, Values: t.Values, At: t.End})
}

// Differ says where two studies differ first, of their objectives and trials: parameters, states, values and steps.
// Times and attributes do not count. "" where they are alike.
func Differ(a, b *StudyInfo, first, second []*Trial) string {
	if !slices.Equal(a.Directions, b.Directions) {
		return fmt.Sprintf("the objectives are %s and %s", directions(a.Directions), directions(b.Directions))
	}
	for i := range min(len(first), len(second)) {
		if what := differ(first[i], second[i]); what != "" {
			return fmt.Sprintf("trial %d: %s", i, what)
		}
	}
	if len(first) != len(second) {
		return fmt.Sprintf("%s and %s", diag.Amount(len(first), "trial"), diag.Amount(len(second), "trial"))
	}
	return ""
}

func directions(list []Direction) string {
	var words []string
	for _, d := range list {
		words = append(words, strings.ToLower(d.String()))
	}
	return strings.Join(words, ", ")
}

func differ(a, b *Trial) string {
	for _, p := range a.Params {
		q := b.Param(p.Name)
		switch {
		case q == nil:
			return fmt.Sprintf("only the first has %s", p.Name)
		case !p.Dist.Equal(q.Dist):
			return fmt.Sprintf("%s has %s and %s", p.Name, p.Dist.Range(), q.Dist.Range())
		case p.Value != q.Value:
			return fmt.Sprintf("%s is %s and %s", p.Name, p.Dist.JSON(p.Value), q.Dist.JSON(q.Value))
		}
	}
	for _, q := range b.Params {
		if a.Param(q.Name) == nil {
			return fmt.Sprintf("only the second has %s", q.Name)
		}
	}
	switch {
	case a.State != b.State:
		return fmt.Sprintf("it is %s and %s", a.State, b.State)
	case !slices.EqualFunc(a.Values, b.Values, same):
		return fmt.Sprintf("the values are %v and %v", a.Values, b.Values)
	case !slices.EqualFunc(a.Steps, b.Steps, func(p, q Step) bool { return p.Step == q.Step && same(p.Value, q.Value) }):
		return fmt.Sprintf("the steps are %v and %v", a.Steps, b.Steps)
	}
	return ""
}

// same says that two values are equal, or no numbers both.
func same(a, b float64) bool { return a == b || a != a && b != b }
