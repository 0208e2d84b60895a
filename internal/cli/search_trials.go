// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/internal/workers"
	"lathe/ir/text"
	"lathe/search"
)

// runTrials asks, tries and tells until so many trials are finished, jobs of them at a time.
func (a *App) runTrials(ctx context.Context, b *searchStudy, trials, jobs int, texts map[int]string) error {
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
	if n := finished(h); n > 0 {
		fmt.Fprintf(a.Out, "study %s goes on: %s\n", b.Info.Name, h)
	}
	q := &queue{searchStudy: b, trials: trials, texts: texts, watch: func(done int) { p.Report("trials", done, trials) }}
	err = workers.Try(ctx, jobs, jobs, func(int) error { return q.run(ctx) })
	if q.exhausted && err == nil {
		p.finish()
		fmt.Fprintf(a.Out, "every configuration of the space has been tried\n")
	}
	return err
}

// usualWarm leaves it to warmUp how many trials are foreseen: foreseen, or none.
const usualWarm, foreseen = -1, 10

// warmUp has a study that has no trial yet begin with some that are foreseen to be good.
func (a *App) warmUp(ctx context.Context, b *searchStudy, most, trials int) error {
	h, err := b.History(ctx)
	if err != nil || most == 0 || h.Len() > 0 {
		return err
	}
	learns := strings.HasSuffix(b.Sampler.Name(), "tpe") || b.Sampler.Name() == "nsga2"
	switch {
	case most > 0 && b.space.Trains():
		fmt.Fprintf(a.Err, "note: --warm foresees nothing of trials that are pruned or trained\n")
		return nil
	case most == usualWarm && (b.space.Trains() || !learns || b.space.Foresight() > trials):
		return nil
	case most == usualWarm:
		most = foreseen
	}
	p := progress{app: a}
	defer p.finish()
	list, measured, err := b.space.Warm(ctx, b.model, most, p.Report)
	if err != nil {
		return err
	}
	p.finish()
	fmt.Fprintf(a.Out, "warm start: %s of %s\n", diag.Amount(len(list), "trial"), diag.Amount(measured, "measured plan"))
	for _, values := range list {
		if _, err := b.Enqueue(ctx, values, "knapsack"); err != nil {
			return err
		}
	}
	return nil
}

func finished(h *search.History) int { return h.Count(search.Complete, search.Pruned, search.Fail) }

// queue hands out the trials of a run to its jobs.
type queue struct {
	*searchStudy
	trials int
	watch  func(done int)

	lock      sync.Mutex // of the study, and of what follows
	texts     map[int]string
	open      int
	exhausted bool
	failed    bool // another job has, and this one ends, too
}

// run does trials until there are enough.
func (q *queue) run(ctx context.Context) error {
	for {
		t, err := q.next(ctx)
		if t == nil || err != nil {
			return err
		}
		o, err := q.outcome(ctx, t)
		if err := q.finish(ctx, t, o, err); err != nil {
			return err
		}
	}
}

// next is the trial to do next; nil where enough are finished or on their way.
func (q *queue) next(ctx context.Context) (*search.Trial, error) {
	q.lock.Lock()
	defer q.lock.Unlock()
	h, err := q.History(ctx)
	if err != nil {
		return nil, err
	}
	done := finished(h)
	q.watch(done)
	if q.failed || done+q.open >= q.trials {
		return nil, nil
	}
	if f, ok := q.Sampler.(search.Finite); ok && f.Exhausted(h) {
		q.exhausted = true
		return nil, nil
	}
	t, err := q.Ask(ctx)
	if err == nil {
		q.open++
	}
	return t, err
}

// finish tells what became of a trial. One that was interrupted does not stay behind as one that runs.
func (q *queue) finish(ctx context.Context, t *search.Trial, o *space.Outcome, failure error) error {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.open--
	if failure != nil {
		q.failed = true
		_ = q.Tell(context.WithoutCancel(ctx), t.Number, search.Fail, nil,
			search.Attr{Key: space.FailureKey, Value: search.Encode("interrupted")})
		return failure
	}
	if o.Text != "" {
		q.texts[t.Number] = o.Text
	}
	return q.Tell(ctx, t.Number, o.State, o.Values, o.Attrs...)
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
func (b *searchStudy) reap(ctx context.Context) error {
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
func (q *queue) outcome(ctx context.Context, t *search.Trial) (*space.Outcome, error) {
	b := q.searchStudy
	q.lock.Lock()
	n, ok := b.Same(t)
	q.lock.Unlock()
	if ok {
		trials, err := b.Storage.Trials(ctx, b.Info.ID, n, nil)
		if err != nil {
			return nil, err
		}
		if old := trials[0]; old.State.Finished() {
			o := &space.Outcome{State: old.State, Values: old.Values, Attrs: []search.Attr{{Key: "lathe:same_as",
				Value: search.Encode(n)}}}
			o.Attrs = append(o.Attrs, old.User.List(false)...)
			if list := old.Constraints(); list != nil {
				o.Attrs = append(o.Attrs, search.ConstraintAttr(list))
			}
			return o, nil
		}
	}
	return b.space.Try(ctx, b.model, t.Params)
}

// writeBest writes trials into a folder: their plans, or where they are trained their graphs.
func (b *searchStudy) writeBest(ctx context.Context, dir string, numbers []int, texts map[int]string) error {
	if b.space.Trains() {
		if err := makeFolder(dir); err != nil {
			return err
		}
		for _, n := range numbers {
			if _, err := b.write(ctx, n, texts, filepath.Join(dir, fmt.Sprintf("trial-%d", n))); err != nil {
				return err
			}
		}
		return nil
	}
	plans := map[string]string{}
	for _, n := range numbers {
		text, err := b.planOf(ctx, n, texts)
		if err != nil {
			return err
		}
		plans[fmt.Sprintf("trial-%d.toml", n)] = text
	}
	return writePlans(dir, plans)
}

// write writes the plan of a trial, or where it is trained its graph, and returns the name of the file.
func (b *searchStudy) write(ctx context.Context, n int, texts map[int]string, path string) (string, error) {
	if !b.space.Trains() {
		plan, err := b.planOf(ctx, n, texts)
		if err != nil {
			return "", err
		}
		return path + ".toml", writeFile(path+".toml", []byte(plan))
	}
	params, err := b.params(ctx, n)
	if err != nil {
		return "", err
	}
	o, err := b.space.Try(ctx, b.model, params) // which has the same bits again
	if err != nil {
		return "", err
	}
	return path + ".lathe", text.Save(path+".lathe", o.Graph)
}

// params are those of a trial.
func (b *searchStudy) params(ctx context.Context, n int) ([]search.Param, error) {
	trials, err := b.Storage.Trials(ctx, b.Info.ID, n, nil)
	if err != nil {
		return nil, err
	}
	return trials[0].Params, nil
}

// planOf is the plan of a trial: from texts, or made again.
func (b *searchStudy) planOf(ctx context.Context, n int, texts map[int]string) (string, error) {
	if text := texts[n]; text != "" {
		return text, nil
	}
	params, err := b.params(ctx, n)
	if err != nil {
		return "", err
	}
	return b.space.Text(ctx, b.model, params)
}
