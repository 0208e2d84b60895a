// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"context"
	"time"

	"lathe/internal/diag"
)

// StudyID names a study in its storage.
type StudyID int64

// StudyInfo is what a storage knows of a study.
type StudyInfo struct {
	ID           StudyID
	Name         string
	Directions   []Direction
	User, System Attributes
}

// Clone is a copy that may be changed.
func (s *StudyInfo) Clone() *StudyInfo {
	c := *s
	c.User, c.System = s.User.clone(), s.System.clone()
	return &c
}

// Change is what one write does to a trial, all of it or nothing.
type Change struct {
	// If is an attribute that the trial must have as it stands here; nil for none.
	If     *Attr
	Params []Param
	Steps  []Step
	Attrs  []Attr
	// State is the new one, if not nil; from Waiting to Running, it claims the trial.
	State  *State
	Values []float64
	// At is the time of the writer: when the trial begins or ends. The zero time is none.
	At time.Time
}

// Storage keeps studies. Each write is whole: others see all of it or nothing, also when the writer is killed. It may
// be used by several goroutines, and by several processes where it is a file or a server. Errors: L1103 for what cannot
// be read or written, L1104 for a study or a trial that is not there, L1105 for a change of a trial that is finished or
// that somebody else has claimed, L1106 for a second study of one name, L1111 where an attribute is not that of
// Change.If.
type Storage interface {
	// CreateStudy makes a study. Its name is unique.
	CreateStudy(ctx context.Context, name string, directions []Direction) (StudyID, error)
	// DeleteStudy removes a study with its trials.
	DeleteStudy(ctx context.Context, id StudyID) error
	// Studies are all of them, in the order of their making.
	Studies(ctx context.Context) ([]*StudyInfo, error)
	// SetStudy sets attributes of a study.
	SetStudy(ctx context.Context, id StudyID, attrs ...Attr) error
	// CreateTrial makes a trial, Running unless fill says otherwise. fill gets the new trial with ID and Number, and adds
	// what it begins with; no other trial gets a number until it returns, and it must not call the storage.
	CreateTrial(ctx context.Context, id StudyID, fill func(*Trial) error) (*Trial, error)
	// UpdateTrial changes a trial that is not finished.
	UpdateTrial(ctx context.Context, id StudyID, number int, c Change) error
	// Trials are those of a study whose number is at least from, or in also: copies or what never changes.
	Trials(ctx context.Context, id StudyID, from int, also []int) ([]*Trial, error)
	// Close gives up what the storage holds open.
	Close() error
}

// Find is the study of a name; with "" the only one. Error L1104 names the nearest.
func Find(ctx context.Context, s Storage, where, name string) (*StudyInfo, error) {
	all, err := s.Studies(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, info := range all {
		if info.Name == name || name == "" && len(all) == 1 {
			return info, nil
		}
		names = append(names, info.Name)
	}
	switch {
	case len(all) == 0:
		return nil, diag.New(diag.UnknownStudy, where, "there is no study in it").
			WithHint("lathe search run makes one")
	case name == "":
		return nil, diag.New(diag.UnknownStudy, where, "it has %d studies", len(all)).
			WithHint("name one by --study: %s", diag.Several(names))
	}
	e := diag.New(diag.UnknownStudy, where, "it has no study %q", name)
	if near := diag.Nearest(name, names); near != "" {
		return nil, e.WithHint("did you mean %q?", near)
	}
	return nil, e.WithHint("it has %s", diag.Several(names))
}

// Apply makes a change to a trial in memory. Error L1105 where the trial is finished or, for a claim, not waiting,
// L1111 where it does not have the attribute that it must have.
func (t *Trial) Apply(c Change) error {
	if t.State.Finished() {
		return diag.New(diag.TrialClosed, "", "trial %d is %s already", t.Number, t.State)
	}
	if c.State != nil && *c.State == Running && t.State != Waiting {
		return diag.New(diag.TrialClosed, "", "trial %d is %s already: somebody else has taken it", t.Number, t.State)
	}
	if c.If != nil && !bytes.Equal(t.Attribute(c.If.System, c.If.Key), c.If.Value) {
		return diag.New(diag.LeaseLost, "", "trial %d belongs to another worker by now", t.Number)
	}
	for _, p := range c.Params {
		t.SetParam(p)
	}
	for _, s := range c.Steps {
		t.Report(s)
	}
	for _, a := range c.Attrs {
		t.Set(a)
	}
	if c.State != nil {
		t.State = *c.State
		switch {
		case t.State == Running:
			t.Start = c.At
		case t.State.Finished():
			t.End = c.At
		}
	}
	if c.Values != nil {
		t.Values = c.Values
	}
	return nil
}

// NoTrial is error L1104.
func NoTrial(study string, number, count int) error {
	return diag.New(diag.UnknownStudy, "", "study %q has no trial %d, but %d trials", study, number, count)
}

// NoStudy is error L1104.
func NoStudy(id StudyID) error {
	return diag.New(diag.UnknownStudy, "", "there is no study of id %d", id)
}

// NameTaken is error L1106.
func NameTaken(name string) error {
	return diag.New(diag.StudyExists, "", "there is a study %q already", name)
}
