// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"lathe/internal/choose/space"
	"lathe/search"
)

// runTrials asks, tries and tells until so many trials are finished.
func (a *App) runTrials(ctx context.Context, b *begun, trials int, texts map[int]string) error {
	p := progress{app: a}
	defer p.finish()
	b.Attrs = []search.Attr{{Key: processKey, Value: search.Encode(process())}}
	if err := b.reap(ctx); err != nil {
		return err
	}
	h, err := b.History(ctx)
	if err != nil {
		return err
	}
	if n := h.Count(search.Complete, search.Pruned, search.Fail); n > 0 {
		fmt.Fprintf(a.Out, "study %s goes on: %s\n", b.Info.Name, h)
	}
	for {
		if h, err = b.History(ctx); err != nil {
			return err
		}
		done := h.Count(search.Complete, search.Pruned, search.Fail)
		p.Report("trials", done, trials)
		if done >= trials {
			return nil
		}
		if f, ok := b.Sampler.(search.Finite); ok && f.Exhausted(h) {
			p.finish()
			fmt.Fprintf(a.Out, "every configuration of the space has been tried\n")
			return nil
		}
		t, err := b.Ask(ctx)
		if err != nil {
			return err
		}
		o, err := b.outcome(ctx, t)
		if err != nil { // the trial does not stay behind as one that runs
			end := context.WithoutCancel(ctx)
			_ = b.Tell(end, t.Number, search.Fail, nil, search.Attr{Key: space.FailureKey, Value: search.Encode("interrupted")})
			return err
		}
		if err := b.Tell(ctx, t.Number, o.State, o.Values, o.Attrs...); err != nil {
			return err
		}
		texts[t.Number] = o.Text
	}
}

// processKey is the attribute of a trial that names the process which works on it.
const processKey = "lathe:process"

// process names this one: the machine and the number.
func process() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// reap ends the trials of processes of this machine that were killed: nobody else would.
func (b *begun) reap(ctx context.Context) error {
	trials, err := b.Storage.Trials(ctx, b.Info.ID, 0, nil)
	if err != nil {
		return err
	}
	here, _, _ := strings.Cut(process(), ":")
	for _, t := range trials {
		var owner string
		if t.State != search.Running || json.Unmarshal(t.User[processKey], &owner) != nil {
			continue
		}
		host, number, _ := strings.Cut(owner, ":")
		pid, err := strconv.Atoi(number)
		if host != here || err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		err = b.Tell(ctx, t.Number, search.Fail, nil, search.Attr{Key: space.FailureKey,
			Value: search.Encode("its process was killed")})
		if err != nil {
			return err
		}
	}
	return nil
}

// outcome is that of a trial before it with the same parameters, or else it is tried.
func (b *begun) outcome(ctx context.Context, t *search.Trial) (*space.Outcome, error) {
	if n, ok := b.Same(t); ok {
		trials, err := b.Storage.Trials(ctx, b.Info.ID, n, nil)
		if err != nil {
			return nil, err
		}
		if old := trials[0]; old.State.Finished() {
			o := &space.Outcome{State: old.State, Values: old.Values, Attrs: []search.Attr{{Key: "lathe:same_as",
				Value: search.Encode(n)}}}
			for _, key := range slices.Sorted(maps.Keys(old.User)) {
				o.Attrs = append(o.Attrs, search.Attr{Key: key, Value: old.User[key]})
			}
			if list := old.Constraints(); list != nil {
				o.Attrs = append(o.Attrs, search.ConstraintAttr(list))
			}
			return o, nil
		}
	}
	return b.space.Try(ctx, b.model, t.Params)
}

// writePlans writes the plans of trials; those of an earlier run are made again.
func (b *begun) writePlans(ctx context.Context, dir string, numbers []int, texts map[int]string) error {
	plans := map[string]string{}
	for _, n := range numbers {
		if texts[n] == "" {
			trials, err := b.Storage.Trials(ctx, b.Info.ID, n, nil)
			if err != nil {
				return err
			}
			if texts[n], err = b.space.Text(ctx, b.model, trials[0].Params); err != nil {
				return err
			}
		}
		plans[fmt.Sprintf("trial-%d.toml", n)] = texts[n]
	}
	return writePlans(dir, plans)
}
