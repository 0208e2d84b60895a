// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/worker"
)

// isolation is how trials run in processes of their own; nil: in this one.
type isolation struct {
	path string        // "": this program
	args []string      // of the program
	most time.Duration // of a trial
}

// isolated is how a command isolates its trials.
func (f *searchFlags) isolated(c *cobra.Command, model string) *isolation {
	if !f.isolate {
		return nil
	}
	args := []string{"search", "run", model, "--" + childFlag}
	return &isolation{args: append(args, flagsOf(c, "isolate", "trial-time", "repair")...), most: f.trialTime}
}

// childFlag has search run try trials that another process asks for, see answer.
const childFlag = "answer-trials"

// request is a trial that is asked for; the reply to a step says whether it ends.
type request struct {
	Params  map[string]json.RawMessage `json:"params"`
	Repairs int                        `json:"repairs"`
}

// answer is one of the answers to a request: parameters that take the place of others, a step, or the outcome.
type answer struct {
	Revised map[string]json.RawMessage `json:"revised,omitempty"`
	Step    *search.Step               `json:"step,omitempty"`
	State   search.State               `json:"state"`
	Values  []float64                  `json:"values,omitempty"`
	Attrs   []search.Attr              `json:"attrs,omitempty"`
	Text    string                     `json:"text,omitempty"`
	Refused string                     `json:"refused,omitempty"`
	// Error is why trials cannot be tried at all.
	Error *diag.Error `json:"error,omitempty"`
}

// mostKilled is how many processes a trial may kill before it is left alone.
const mostKilled = 2

// helper is the process in which a job tries its trials, one after the other.
type helper struct {
	*isolation
	process *worker.Process // nil: there is none yet
}

func (h *helper) end() {
	if h.process != nil {
		h.process.Close()
	}
}

// errLong says that a trial took too long.
var errLong = errors.New("it took longer than --trial-time")

// isolated tries a trial in a process of its own. One that kills two of them, or takes too long, has failed.
func (q *queue) isolated(ctx context.Context, t *search.Trial, h *helper) (*space.Outcome, error) {
	for killed := 1; ; killed++ {
		o, err := q.once(ctx, t, h)
		var gone *worker.Gone
		switch {
		case errors.Is(err, errLong):
			return space.Failed(errLong.Error()), nil
		case !errors.As(err, &gone):
			return o, err
		case killed == mostKilled:
			return space.Failed(fmt.Sprintf("it killed %d processes, and is left alone: %s", killed, gone.How)), nil
		}
	}
}

// once tries a trial in the process, or in a new one where there is none.
func (q *queue) once(ctx context.Context, t *search.Trial, h *helper) (o *space.Outcome, err error) {
	if h.process == nil {
		path := h.path
		if path == "" {
			if path, err = os.Executable(); err != nil {
				return nil, diag.New(diag.UnitFault, "", "this program cannot start itself: %v", reason(err))
			}
		}
		if h.process, err = worker.Start(path, h.args...); err != nil {
			return nil, diag.New(diag.UnitFault, path, "cannot be started: %v", reason(err))
		}
	}
	if h.most > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, h.most, errLong)
		defer cancel()
	}
	err = h.process.Do(ctx, request{values(t.Params), q.repairs}, func(raw json.RawMessage) (any, bool, error) {
		var a answer
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, false, &worker.Gone{How: "it answers " + string(raw)}
		}
		switch {
		case a.Error != nil:
			return nil, true, a.Error
		case a.Revised != nil:
			params, err := paramsOf(q.Space, a.Revised)
			if err == nil {
				err = q.revise(ctx, t, params)
			}
			return false, false, err
		case a.Step != nil:
			end, err := q.report(ctx, t)(a.Step.Step, a.Step.Value)
			return end, false, err
		}
		o = &space.Outcome{State: a.State, Values: a.Values, Attrs: a.Attrs, Text: a.Text, Refused: a.Refused}
		return nil, true, nil
	})
	if o == nil { // what became of the process is not known
		h.end()
		h.process = nil
	}
	return o, err
}

// paramsOf are parameters of a space by their names.
func paramsOf(s search.Space, values map[string]json.RawMessage) (out []search.Param, err error) {
	for _, p := range s {
		raw, has := values[p.Name]
		if !has {
			continue
		}
		v, ok := p.Dist.Value(string(raw))
		if !ok {
			return nil, diag.New(diag.TrialValues, "", "%s has no value %s", p.Name, raw)
		}
		out = append(out, search.Param{Name: p.Name, Dist: p.Dist, Value: v})
	}
	return out, nil
}

// answerTrials tries the trials that come on standard input, until nobody asks any more.
func (a *App) answerTrials(ctx context.Context, b *searchStudy, to io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	asked := make(chan json.RawMessage)
	go func() {
		defer cancel() // the one who asks is gone
		in := json.NewDecoder(a.In)
		for {
			var raw json.RawMessage
			if in.Decode(&raw) != nil {
				return
			}
			asked <- raw
		}
	}()
	out := json.NewEncoder(to)
	for {
		var r request
		select {
		case <-ctx.Done():
			return nil
		case raw := <-asked:
			if err := json.Unmarshal(raw, &r); err != nil {
				return err
			}
		}
		told, err := b.answer(ctx, &r, func(said answer) (end bool, err error) {
			if err := out.Encode(said); err != nil {
				return false, err
			}
			select {
			case <-ctx.Done():
				return false, context.Cause(ctx)
			case raw := <-asked:
				return string(raw) == "true", nil
			}
		})
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			var e *diag.Error
			if !errors.As(err, &e) {
				e = diag.New(diag.UnitFault, "", "%v", err)
			}
			told = &answer{Error: e}
		}
		if err := out.Encode(told); err != nil {
			return err
		}
	}
}

// answer tries one trial; ask says what happens on the way.
func (b *searchStudy) answer(ctx context.Context, r *request, ask func(answer) (bool, error)) (*answer, error) {
	params, err := paramsOf(b.Space, r.Params)
	if err != nil {
		return nil, err
	}
	repaired, err := b.space.Repair(ctx, b.model, params, r.Repairs)
	if err != nil {
		return nil, err
	}
	if repaired != nil {
		params = repaired
		if _, err := ask(answer{Revised: values(params)}); err != nil {
			return nil, err
		}
	}
	o, err := b.space.Try(ctx, b.model, params, func(step int, v float64) (bool, error) {
		return ask(answer{Step: &search.Step{Step: step, Value: v}})
	})
	if err != nil {
		return nil, err
	}
	return &answer{State: o.State, Values: o.Values, Attrs: o.Attrs, Text: o.Text, Refused: o.Refused}, nil
}
