// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

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
	b.Lease, b.Worker, b.Gone = leaseTime, process(), killed
	if b.remote {
		if err := a.unspool(ctx, b.Study); err != nil {
			return err
		}
	}
	h, err := b.History(ctx)
	if err != nil {
		return err
	}
	if n := finished(h); n > 0 {
		fmt.Fprintf(a.Out, "study %s goes on: %s\n", b.Info.Name, h)
	}
	q := &queue{searchStudy: b, trials: trials, texts: texts, open: map[int]context.CancelFunc{},
		watch: func(done int) { p.Report("trials", done, trials) },
		note: func(text string) {
			p.finish()
			fmt.Fprintf(a.Err, "note: %s\n", text)
		}}
	stop := q.renewing(ctx)
	err = workers.Try(ctx, jobs, jobs, func(int) error { return q.run(ctx) })
	stop()
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

// drawnKey is the attribute of a trial that has the parameters that were drawn, where others take their place.
const drawnKey = "lathe:drawn"

// repaired has a trial whose hardware breaks a limit try a cheaper configuration.
func (q *queue) repaired(ctx context.Context, t *search.Trial) error {
	if q.isolation != nil { // which does so, too
		return nil
	}
	params, err := q.space.Repair(ctx, q.model, t.Params, q.repairs)
	if err != nil || params == nil {
		return err
	}
	return q.revise(ctx, t, params)
}

// revise gives a trial other parameters than those that were drawn.
func (q *queue) revise(ctx context.Context, t *search.Trial, params []search.Param) error {
	drawn := search.Attr{Key: drawnKey, Value: search.Encode(values(t.Params))}
	return q.persist(ctx, func() error {
		q.lock.Lock()
		defer q.lock.Unlock()
		return q.Revise(ctx, t, params, drawn)
	})
}

// outcome is that of a trial before it with the same parameters, or else it is tried.
func (q *queue) outcome(ctx context.Context, t *search.Trial, h *helper) (*space.Outcome, error) {
	if err := q.repaired(ctx, t); err != nil {
		return nil, err
	}
	b := q.searchStudy
	q.lock.Lock()
	n, ok := b.Same(t)
	q.lock.Unlock()
	if ok {
		var old *search.Trial
		err := q.persist(ctx, func() (err error) {
			old, err = b.Trial(ctx, n)
			return err
		})
		if err != nil {
			return nil, err
		}
		if old.State.Finished() {
			o := &space.Outcome{State: old.State, Values: old.Values, Attrs: []search.Attr{{Key: "lathe:same_as",
				Value: search.Encode(n)}}}
			o.Attrs = append(o.Attrs, old.User.List(false)...)
			if list := old.Constraints(); list != nil {
				o.Attrs = append(o.Attrs, search.ConstraintAttr(list))
			}
			return o, nil
		}
	}
	if q.isolation != nil {
		return q.isolated(ctx, t, h)
	}
	return b.space.Try(ctx, b.model, t.Params, q.report(ctx, t))
}

// report tells the study what a trial is worth on a rung.
func (q *queue) report(ctx context.Context, t *search.Trial) space.Report {
	return func(step int, value float64) (end bool, err error) {
		err = q.persist(ctx, func() (err error) {
			q.lock.Lock()
			defer q.lock.Unlock()
			end, err = q.Report(ctx, t, step, value)
			return err
		})
		return end, err
	}
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
	t, err := b.Trial(ctx, n)
	if err != nil {
		return "", err
	}
	o, err := b.space.Try(ctx, b.model, t.Params, nil) // which has the same bits again
	if err != nil {
		return "", err
	}
	return path + ".lathe", text.Save(path+".lathe", o.Trial.Graph)
}

// planOf is the plan of a trial: from texts, or made again.
func (b *searchStudy) planOf(ctx context.Context, n int, texts map[int]string) (string, error) {
	if text := texts[n]; text != "" {
		return text, nil
	}
	t, err := b.Trial(ctx, n)
	if err != nil {
		return "", err
	}
	return b.space.Text(ctx, b.model, t.Params)
}
