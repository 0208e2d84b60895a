// SPDX-License-Identifier: Apache-2.0

// Package memory keeps studies as long as the program runs. The journal keeps in it what its file says.
package memory

import (
	"context"
	"slices"
	"sync"

	"lathe/search"
)

// Storage keeps studies in memory. The zero value is empty and ready.
type Storage struct {
	mu      sync.Mutex
	studies []*study // by ID; nil where deleted
	ids     int64    // of trials
}

type study struct {
	info   search.StudyInfo
	trials []entry // by number
}

// entry is a trial. Once somebody has it, a changed copy takes its place.
type entry struct {
	trial *search.Trial
	out   bool
}

// New is an empty storage.
func New() *Storage { return &Storage{} }

// find is a study; error L1104.
func (m *Storage) find(id search.StudyID) (*study, error) {
	if id < 0 || int(id) >= len(m.studies) || m.studies[id] == nil {
		return nil, search.NoStudy(id)
	}
	return m.studies[id], nil
}

// CreateStudy makes a study.
func (m *Storage) CreateStudy(_ context.Context, name string, directions []search.Direction) (search.StudyID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.ContainsFunc(m.studies, func(s *study) bool { return s != nil && s.info.Name == name }) {
		return 0, search.NameTaken(name)
	}
	id := search.StudyID(len(m.studies))
	m.studies = append(m.studies, &study{info: search.StudyInfo{ID: id, Name: name,
		Directions: slices.Clone(directions), User: search.Attributes{}, System: search.Attributes{}}})
	return id, nil
}

// DeleteStudy removes a study with its trials.
func (m *Storage) DeleteStudy(_ context.Context, id search.StudyID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.find(id); err != nil {
		return err
	}
	m.studies[id] = nil
	return nil
}

// Studies are all of them.
func (m *Storage) Studies(context.Context) ([]*search.StudyInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*search.StudyInfo
	for _, s := range m.studies {
		if s != nil {
			out = append(out, s.info.Clone())
		}
	}
	return out, nil
}

// SetStudy sets attributes of a study.
func (m *Storage) SetStudy(_ context.Context, id search.StudyID, attrs ...search.Attr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return err
	}
	for _, a := range attrs {
		if a.System {
			s.info.System[a.Key] = a.Value
		} else {
			s.info.User[a.Key] = a.Value
		}
	}
	return nil
}

// CreateTrial makes a trial.
func (m *Storage) CreateTrial(_ context.Context, id search.StudyID, fill func(*search.Trial) error) (*search.Trial,
	error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, err
	}
	t := &search.Trial{ID: m.ids, Number: len(s.trials)}
	if fill != nil {
		if err := fill(t); err != nil {
			return nil, err
		}
	}
	m.ids++
	s.trials = append(s.trials, entry{trial: t})
	return t.Clone(), nil
}

// NextTrial is the ID and the number that the next trial of a study will have.
func (m *Storage) NextTrial(id search.StudyID) (trial int64, number int, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return 0, 0, err
	}
	return m.ids, len(s.trials), nil
}

// Trial is one of a study. Error L1104.
func (m *Storage) Trial(id search.StudyID, number int) (*search.Trial, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, err
	}
	if number < 0 || number >= len(s.trials) {
		return nil, search.NoTrial(s.info.Name, number, len(s.trials))
	}
	s.trials[number].out = true
	return s.trials[number].trial, nil
}

// UpdateTrial changes a trial that is not finished.
func (m *Storage) UpdateTrial(_ context.Context, id search.StudyID, number int, c search.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return err
	}
	if number < 0 || number >= len(s.trials) {
		return search.NoTrial(s.info.Name, number, len(s.trials))
	}
	e := &s.trials[number]
	if e.out {
		*e = entry{trial: e.trial.Clone()}
	}
	return e.trial.Apply(c)
}

// Trials are those of a study whose number is at least from, or in also.
func (m *Storage) Trials(_ context.Context, id search.StudyID, from int, also []int) ([]*search.Trial, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, err := m.find(id)
	if err != nil {
		return nil, err
	}
	var out []*search.Trial
	give := func(n int) {
		s.trials[n].out = true
		out = append(out, s.trials[n].trial)
	}
	for _, n := range also {
		if n < from && n < len(s.trials) {
			give(n)
		}
	}
	for n := from; n < len(s.trials); n++ {
		give(n)
	}
	return out, nil
}

// Close does nothing.
func (m *Storage) Close() error { return nil }
