// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"lathe/internal/choose/space"
	"lathe/internal/diag"
	"lathe/search"
)

const (
	// leaseTime is how long a trial belongs to a process that says nothing.
	leaseTime = time.Minute
	// glance is how long a worker waits before it looks again for trials that others have lost.
	glance = time.Second
	// giveUp is how long a worker goes on without its database.
	giveUp = 10 * time.Minute
)

// queue hands out the trials of a run to its jobs.
type queue struct {
	*searchStudy
	trials int
	watch  func(done int)
	note   func(text string)

	lock      sync.Mutex // of the study, and of what follows
	texts     map[int]string
	open      map[int]context.CancelFunc // the trials on their way
	exhausted bool
	failed    bool // another job has, and this one ends, too
	gone      bool // the database
}

// run does trials until there are enough.
func (q *queue) run(ctx context.Context) error {
	h := &helper{isolation: q.isolation}
	defer h.end()
	for {
		one, cancel := context.WithCancel(ctx)
		t, err := q.next(ctx, cancel)
		if t == nil || err != nil {
			cancel()
			return err
		}
		o, err := q.outcome(one, t, h)
		lost := one.Err() != nil && ctx.Err() == nil
		cancel()
		if err := q.finish(ctx, t, o, err, lost); err != nil {
			return err
		}
	}
}

// next is the trial to do next; nil where enough are finished, or on their way in this process. While others have the
// last ones it waits, since they may lose them. cancel ends the trial where it is lost.
func (q *queue) next(ctx context.Context, cancel context.CancelFunc) (t *search.Trial, err error) {
	for {
		wait := false
		err := q.persist(ctx, func() (err error) {
			q.lock.Lock()
			defer q.lock.Unlock()
			if t, wait, err = q.ask(ctx); t != nil {
				q.open[t.Number] = cancel
			}
			return err
		})
		if err != nil || t != nil || !wait {
			return t, err
		}
		if err := pause(ctx, glance); err != nil {
			return nil, err
		}
	}
}

// ask is next without patience: wait says that others have the last trials.
func (q *queue) ask(ctx context.Context) (t *search.Trial, wait bool, err error) {
	h, err := q.History(ctx)
	if err != nil {
		return nil, false, err
	}
	done := finished(h)
	q.watch(done)
	if f, ok := q.Sampler.(search.Finite); ok && f.Exhausted(h) {
		q.exhausted = true
		return nil, false, nil
	}
	switch {
	case q.failed || done >= q.trials:
		return nil, false, nil
	case done+len(q.open)+q.Elsewhere() >= q.trials:
		t, err = q.Lost(ctx)
	default:
		// Trials that others have begun without a lease may never end: they do not count.
		q.Most = q.trials + max(0, h.Count(search.Running)-len(q.open)-q.Elsewhere())
		t, err = q.Ask(ctx)
	}
	if t == nil && err == nil { // others may have begun the last ones meanwhile
		_, err = q.History(ctx)
	}
	return t, q.Elsewhere() > 0, err
}

// finish tells what became of a trial. One that was interrupted is given back; one that was lost belongs to another.
func (q *queue) finish(ctx context.Context, t *search.Trial, o *space.Outcome, failure error, lost bool) error {
	tell := func() error {
		q.lock.Lock()
		defer q.lock.Unlock()
		delete(q.open, t.Number)
		switch {
		case lost:
			return nil
		case failure != nil:
			q.failed = true
			_ = q.Release(context.WithoutCancel(ctx), t.Number)
			return failure
		case o.Text != "":
			q.texts[t.Number] = o.Text
		}
		return q.Tell(ctx, t.Number, o.State, o.Values, o.Attrs...)
	}
	err := q.persist(ctx, tell)
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.gone && err != nil && o != nil && !lost && failure == nil {
		if e := spool(q.Spool(t.Number, o.State, o.Values, o.Attrs...)); e != nil {
			return e
		}
		q.note(fmt.Sprintf("the result of trial %d is in %s; the next run in this folder tells it", t.Number, spoolFile))
	}
	if code := diag.CodeOf(err); code == diag.LeaseLost || code == diag.TrialClosed {
		q.note(fmt.Sprintf("trial %d was taken over by another worker", t.Number))
		return nil
	}
	return err
}

// persist does something again where the database is gone, until it is back.
func (q *queue) persist(ctx context.Context, do func() error) error {
	for start := time.Now(); ; {
		err := do()
		if diag.CodeOf(err) != diag.StudyStorage || !q.remote || time.Since(start) > giveUp {
			q.lock.Lock()
			q.gone = q.gone && err != nil
			q.lock.Unlock()
			return err
		}
		q.lock.Lock()
		if !q.gone {
			q.note(fmt.Sprintf("%v; trying again for %v", err, giveUp))
		}
		q.gone = true
		q.lock.Unlock()
		if err := pause(ctx, glance); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// renewing renews the leases of the trials on their way until it is stopped. One that belongs to another worker by now
// is given up.
func (q *queue) renewing(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause(ctx, leaseTime/4) == nil {
			q.lock.Lock()
			for number, end := range q.open {
				if err := q.Renew(ctx, number); diag.CodeOf(err) == diag.LeaseLost {
					end()
				}
			}
			q.lock.Unlock()
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

// process names this one: the machine, the number, and the kernel for which the number stands.
func process() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), kernel())
}

// kernel tells running kernels, and containers with processes of their own, apart: machines may have equal names. It is
// empty where the system does not say.
func kernel() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, wrong := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil || wrong != nil || len(boot) < 8 {
		return ""
	}
	return string(boot[:8]) + "/" + strings.Trim(space, "pid:[]")
}

// killed says that a worker was a process of this machine which is gone.
func killed(name string) bool {
	here, this := strings.Split(process(), ":"), strings.Split(name, ":")
	if len(this) != 3 || this[0] != here[0] || this[2] != here[2] || this[2] == "" {
		return false
	}
	pid, err := strconv.Atoi(this[1])
	return err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
