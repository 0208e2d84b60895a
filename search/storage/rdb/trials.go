// SPDX-License-Identifier: Apache-2.0

package rdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"lathe/search"
)

// Words for numbers that are none, in columns beside them.
const (
	finite   = "FINITE"
	positive = "INF_POS"
	negative = "INF_NEG"
	nan      = "NAN"
)

// stored is a number as its two columns.
func stored(v float64) (value any, kind string) {
	switch {
	case math.IsNaN(v):
		return nil, nan
	case math.IsInf(v, 1):
		return nil, positive
	case math.IsInf(v, -1):
		return nil, negative
	}
	return v, finite
}

// number is what two columns say.
func number(v sql.NullFloat64, kind string) float64 {
	switch kind {
	case positive:
		return math.Inf(1)
	case negative:
		return math.Inf(-1)
	case finite:
		return v.Float64
	}
	return math.NaN()
}

// CreateTrial makes a trial.
func (s *Storage) CreateTrial(ctx context.Context, id search.StudyID, fill func(*search.Trial) error) (*search.Trial,
	error) {
	t := &search.Trial{}
	err := s.write(ctx, func(tx *tx) error {
		if _, err := known(ctx, tx, id, s.d.update); err != nil {
			return err
		}
		err := tx.row(ctx, `SELECT COUNT(*) FROM trials WHERE study_id = ?`, id).Scan(&t.Number)
		if err != nil {
			return err
		}
		err = tx.row(ctx, `INSERT INTO trials (number, study_id, state) VALUES (?, ?, ?) RETURNING trial_id`, t.Number, id,
			t.State.String()).Scan(&t.ID)
		if err != nil {
			return err
		}
		if fill != nil {
			if err := fill(t); err != nil {
				return err
			}
		}
		_, err = tx.exec(ctx,
			`UPDATE trials SET state = ?, datetime_start = ?, datetime_complete = ? WHERE trial_id = ?`,
			t.State.String(), stamp(t.Start), stamp(t.End), t.ID)
		if err != nil {
			return err
		}
		c := search.Change{Params: t.Params, Steps: t.Steps, Values: t.Values}
		for key, v := range t.User {
			c.Attrs = append(c.Attrs, search.Attr{Key: key, Value: v})
		}
		for key, v := range t.System {
			c.Attrs = append(c.Attrs, search.Attr{System: true, Key: key, Value: v})
		}
		return children(ctx, tx, t.ID, c)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// children writes what a change adds beside the row of a trial.
func children(ctx context.Context, tx *tx, trial int64, c search.Change) error {
	var params, steps, values [][]any
	for i, p := range c.Params {
		if !slices.ContainsFunc(c.Params[i+1:], func(q search.Param) bool { return q.Name == p.Name }) {
			params = append(params, []any{trial, p.Name, p.Value, p.Dist.String()})
		}
	}
	for i, st := range c.Steps {
		if !slices.ContainsFunc(c.Steps[i+1:], func(q search.Step) bool { return q.Step == st.Step }) {
			v, kind := stored(st.Value)
			steps = append(steps, []any{trial, st.Step, v, kind})
		}
	}
	for i, v := range c.Values {
		value, kind := stored(v)
		values = append(values, []any{trial, i, value, kind})
	}
	return errors.Join(
		insert(ctx, tx, "trial_params", []string{"trial_id", "param_name", "param_value", "distribution_json"}, 2, params),
		insert(ctx, tx, "trial_intermediate_values",
			[]string{"trial_id", "step", "intermediate_value", "intermediate_value_type"}, 2, steps),
		insert(ctx, tx, "trial_values", []string{"trial_id", "objective", "value", "value_type"}, 2, values),
		attrs(ctx, tx, "trial", trial, c.Attrs))
}

// stateOf is the state of a word.
func stateOf(word string) (search.State, error) {
	i := slices.Index(search.States, word)
	if i < 0 {
		return 0, fmt.Errorf("a trial is %q", word)
	}
	return search.State(i), nil
}

// UpdateTrial changes a trial that is not finished.
func (s *Storage) UpdateTrial(ctx context.Context, id search.StudyID, number int, c search.Change) error {
	return s.write(ctx, func(tx *tx) error {
		name, err := known(ctx, tx, id, "")
		if err != nil {
			return err
		}
		t := search.Trial{Number: number}
		var word string
		err = tx.row(ctx, `SELECT trial_id, state FROM trials WHERE study_id = ? AND number = ?`+s.d.update, id, number).
			Scan(&t.ID, &word)
		if errors.Is(err, sql.ErrNoRows) {
			var count int
			err := tx.row(ctx, `SELECT COUNT(*) FROM trials WHERE study_id = ?`, id).Scan(&count)
			return errors.Join(search.NoTrial(name, number, count), err)
		}
		if err == nil {
			t.State, err = stateOf(word)
		}
		if err != nil {
			return err
		}
		if c.If != nil {
			if err := condition(ctx, tx, &t, c.If); err != nil {
				return err
			}
		}
		if err := t.Apply(search.Change{If: c.If, State: c.State, At: c.At}); err != nil {
			return err
		}
		if c.State != nil {
			column := "datetime_complete"
			at := t.End
			if *c.State == search.Running {
				column, at = "datetime_start", t.Start
			}
			_, err := tx.exec(ctx, `UPDATE trials SET state = ?, `+column+` = ? WHERE trial_id = ?`, t.State.String(),
				stamp(at), t.ID)
			if err != nil {
				return err
			}
		}
		return children(ctx, tx, t.ID, c)
	})
}

// condition reads the attribute that a change demands.
func condition(ctx context.Context, tx *tx, t *search.Trial, a *search.Attr) error {
	table := trialUser
	if a.System {
		table = trialSystem
	}
	var text string
	err := tx.row(ctx, `SELECT value_json FROM `+table+` WHERE trial_id = ? AND "key" = ?`, t.ID, a.Key).
		Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	t.Set(search.Attr{System: a.System, Key: a.Key, Value: []byte(text)})
	return err
}

// Trials are those of a study whose number is at least from, or in also.
func (s *Storage) Trials(ctx context.Context, id search.StudyID, from int, also []int) ([]*search.Trial, error) {
	var extra []string
	for _, n := range also {
		extra = append(extra, fmt.Sprint(n))
	}
	which := fmt.Sprintf("study_id = %d AND number >= %d", id, from)
	if len(extra) > 0 {
		which = fmt.Sprintf("study_id = %d AND (number >= %d OR number IN (%s))", id, from, strings.Join(extra, ", "))
	}
	var out []*search.Trial
	at := map[int64]*search.Trial{}
	err := s.rows(ctx, `SELECT trial_id, number, state, CAST(datetime_start AS TEXT), CAST(datetime_complete AS TEXT)
		FROM trials WHERE `+which+` ORDER BY number`, nil, func(r *sql.Rows) error {
		t := &search.Trial{}
		var word string
		var start, end sql.NullString
		err := r.Scan(&t.ID, &t.Number, &word, &start, &end)
		if err == nil {
			t.State, err = stateOf(word)
		}
		t.Start, t.End = timeOf(start), timeOf(end)
		at[t.ID], out = t, append(out, t)
		return err
	})
	if err == nil && len(out) == 0 {
		err = s.write(ctx, func(tx *tx) error {
			_, err := known(ctx, tx, id, "")
			return err
		})
	}
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return out, s.fill(ctx, at, ` WHERE trial_id IN (SELECT trial_id FROM trials WHERE `+which+`)`)
}

// fill reads what stands beside the rows of trials.
func (s *Storage) fill(ctx context.Context, at map[int64]*search.Trial, which string) error {
	var id int64
	var name, text string
	var v sql.NullFloat64
	read := func(question string, keep func(t *search.Trial) error, to ...any) error {
		return s.rows(ctx, question, nil, func(r *sql.Rows) error {
			if err := r.Scan(append([]any{&id}, to...)...); err != nil || at[id] == nil {
				return err
			}
			return keep(at[id])
		})
	}
	err := read(`SELECT trial_id, param_name, param_value, distribution_json FROM trial_params`+which+` ORDER BY param_id`,
		func(t *search.Trial) error {
			d, err := s.dist(text)
			t.Params = append(t.Params, search.Param{Name: name, Dist: d, Value: v.Float64})
			return err
		}, &name, &v, &text)
	if err != nil {
		return err
	}
	err = read(`SELECT trial_id, value, value_type FROM trial_values`+which+` ORDER BY objective`,
		func(t *search.Trial) error {
			t.Values = append(t.Values, number(v, text))
			return nil
		}, &v, &text)
	if err != nil {
		return err
	}
	var step int
	err = read(`SELECT trial_id, step, intermediate_value, intermediate_value_type FROM trial_intermediate_values`+which+
		` ORDER BY step`, func(t *search.Trial) error {
		t.Steps = append(t.Steps, search.Step{Step: step, Value: number(v, text)})
		return nil
	}, &step, &v, &text)
	for _, table := range []string{trialUser, trialSystem} {
		if err != nil {
			return err
		}
		err = read(`SELECT trial_id, "key", value_json FROM `+table+which, func(t *search.Trial) error {
			t.Set(search.Attr{System: table == trialSystem, Key: name, Value: []byte(text)})
			return nil
		}, &name, &text)
	}
	return err
}

// dist reads a distribution, each text once.
func (s *Storage) dist(text string) (*search.Distribution, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.dists[text]; d != nil {
		return d, nil
	}
	d, err := search.ParseDistribution(text)
	if err == nil {
		s.dists[text] = d
	}
	return d, err
}
