// SPDX-License-Identifier: Apache-2.0

// Package journal keeps studies in a file of lines, in the format of Optuna's JournalStorage: Optuna's programs may
// read and write the same file at the same time. A line that a killed writer has left unfinished is cut off by the next
// one.
package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"lathe/internal/diag"
	"lathe/search"
	"lathe/search/storage/memory"
)

// Storage is a journal. What a change of several records has written before its writer was killed stays, but the record
// that ends a trial is the last.
type Storage struct {
	path, worker string

	mu     sync.Mutex
	state  *memory.Storage
	offset int64 // of what state has
	lines  int
	trials []place // by ID
	dists  map[string]*search.Distribution
	spaces map[string][]search.Named
}

// place is where a trial stands.
type place struct {
	study  search.StudyID
	number int
}

// Open reads a journal, which need not be there yet where create says so. worker names the writer in its records. Error
// L1103 where the file cannot be read.
func Open(path, worker string, create bool) (*Storage, error) {
	s := &Storage{path: path, worker: worker, state: memory.New(), dists: map[string]*search.Distribution{},
		spaces: map[string][]search.Named{}}
	if create {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, s.failed("cannot be written", err)
		}
		if err := f.Close(); err != nil {
			return nil, s.failed("cannot be written", err)
		}
	}
	return s, s.read()
}

// failed is error L1103.
func (s *Storage) failed(what string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return diag.New(diag.StudyStorage, s.path, "the journal %s: %v", what, err)
}

// read takes in what others have written, up to the last whole line.
func (s *Storage) read() error {
	f, err := os.Open(s.path)
	if err != nil {
		return s.failed("cannot be read", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s.failed("cannot be read", err)
	}
	if info.Size() < s.offset { // somebody has repaired it, or begun anew
		s.state, s.offset, s.lines, s.trials = memory.New(), 0, 0, nil
	}
	if info.Size() == s.offset {
		return nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, s.offset, info.Size()-s.offset))
	if err != nil {
		return s.failed("cannot be read", err)
	}
	return s.take(data)
}

// take applies whole lines.
func (s *Storage) take(data []byte) error {
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return nil
		}
		r, err := parse(data[:end])
		if err == nil {
			err = s.apply(r)
		}
		if err != nil {
			return diag.New(diag.StudyStorage, fmt.Sprintf("%s:%d", s.path, s.lines+1), "no record of a journal: %v",
				err).WithHint("lathe search repair %s drops what a killed writer has left", s.path)
		}
		s.lines++
		s.offset += int64(end) + 1
		data = data[end+1:]
	}
}

// apply does what a record says. What cannot be done, such as a change of a finished trial, does nothing, as in Optuna.
func (s *Storage) apply(r *record) error {
	ctx := context.Background()
	var err error
	switch *r.Op {
	case createStudy:
		_, err = s.state.CreateStudy(ctx, r.StudyName, r.Directions)
	case deleteStudy:
		err = s.state.DeleteStudy(ctx, r.Study)
	case studyUserAttr, studySystemAttr:
		err = s.state.SetStudy(ctx, r.Study, append(listOf(r.UserAttr, false), listOf(r.SystemAttr, true)...)...)
	case createTrial:
		return s.applyTrial(r)
	case trialParam, trialState, trialStep, trialUserAttr, trialSystemAttr:
		return s.applyChange(r)
	}
	if diag.CodeOf(err) == "" {
		return err
	}
	return nil
}

func (s *Storage) applyTrial(r *record) error {
	named, err := s.named(r.Dists)
	if err != nil {
		return err
	}
	params := make([]search.Param, 0, len(named))
	for _, n := range named {
		params = append(params, search.Param{Name: n.Name, Dist: n.Dist, Value: r.Params[n.Name]})
	}
	t, err := s.state.CreateTrial(context.Background(), r.Study, func(t *search.Trial) error {
		t.Params, t.User, t.System = params, r.UserAttrs, r.SystemAttrs
		t.Start, t.End = timeOf(r.Start), timeOf(r.End)
		if r.State != nil {
			t.State = *r.State
		}
		for _, v := range r.Values {
			t.Values = append(t.Values, float64(v))
		}
		if r.Value != nil {
			t.Values = []float64{float64(*r.Value)}
		}
		for k, v := range r.Reports {
			step, err := strconv.Atoi(k)
			if err != nil {
				return fmt.Errorf("step %q: %w", k, err)
			}
			t.Report(search.Step{Step: step, Value: float64(v)})
		}
		return nil
	})
	if diag.CodeOf(err) != "" { // the study was deleted
		return nil
	}
	if err == nil {
		s.trials = append(s.trials, place{r.Study, t.Number})
	}
	return err
}

func (s *Storage) applyChange(r *record) error {
	if r.Trial < 0 || r.Trial >= int64(len(s.trials)) {
		return nil
	}
	var c search.Change
	switch *r.Op {
	case trialParam:
		d, err := s.dist(r.Dist)
		if err != nil {
			return err
		}
		c.Params = []search.Param{{Name: r.ParamName, Dist: d, Value: float64(r.ParamValue)}}
	case trialState:
		c.State = r.State
		for _, v := range r.Values {
			c.Values = append(c.Values, float64(v))
		}
		if c.At = timeOf(r.End); r.End == nil {
			c.At = timeOf(r.Start)
		}
	case trialStep:
		c.Steps = []search.Step{{Step: r.Step, Value: float64(r.StepValue)}}
	default:
		c.Attrs = append(listOf(r.UserAttr, false), listOf(r.SystemAttr, true)...)
	}
	at := s.trials[r.Trial]
	if err := s.state.UpdateTrial(context.Background(), at.study, at.number, c); diag.CodeOf(err) == "" {
		return err
	}
	return nil
}

// write appends what fill makes, while nobody else writes; fill sees all that others have written, and writes nothing
// where it fails.
func (s *Storage) write(ctx context.Context, fill func(w *writer) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := lock(ctx, s.path)
	if err != nil {
		return s.failed("cannot be locked", err)
	}
	defer unlock()
	if err := s.read(); err != nil {
		return err
	}
	w := &writer{worker: s.worker}
	if err := fill(w); err != nil || w.out.Len() == 0 {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR, 0)
	if err != nil {
		return s.failed("cannot be written", err)
	}
	defer f.Close()
	if err := f.Truncate(s.offset); err != nil { // a killed writer may have left half a line
		return s.failed("cannot be written", err)
	}
	if _, err := f.WriteAt(w.out.Bytes(), s.offset); err != nil {
		return errors.Join(s.failed("cannot be written", err), f.Truncate(s.offset))
	}
	if err := f.Sync(); err != nil {
		return s.failed("cannot be written", err)
	}
	return s.take(w.out.Bytes())
}

// CreateStudy makes a study.
func (s *Storage) CreateStudy(ctx context.Context, name string, directions []search.Direction) (search.StudyID,
	error) {
	err := s.write(ctx, func(w *writer) error {
		if err := s.free(name); err != nil {
			return err
		}
		ways := "["
		for i, d := range directions {
			if i > 0 {
				ways += ","
			}
			ways += fmt.Sprint(uint8(d))
		}
		w.line(createStudy, "study_name", string(search.Encode(name)), "directions", ways+"]")
		return nil
	})
	if err != nil {
		return 0, err
	}
	info, err := search.Find(ctx, s, s.path, name)
	if err != nil {
		return 0, err
	}
	return info.ID, nil
}

// free is error L1106 where there is a study of a name.
func (s *Storage) free(name string) error {
	all, err := s.state.Studies(context.Background())
	for _, info := range all {
		if info.Name == name {
			return search.NameTaken(name)
		}
	}
	return err
}

// DeleteStudy removes a study with its trials.
func (s *Storage) DeleteStudy(ctx context.Context, id search.StudyID) error {
	return s.write(ctx, func(w *writer) error {
		if _, _, err := s.state.NextTrial(id); err != nil {
			return err
		}
		w.line(deleteStudy, "study_id", fmt.Sprint(id))
		return nil
	})
}

// Studies are all of them, in the order of their making.
func (s *Storage) Studies(ctx context.Context) ([]*search.StudyInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.state.Studies(ctx)
}

// SetStudy sets attributes of a study.
func (s *Storage) SetStudy(ctx context.Context, id search.StudyID, attrs ...search.Attr) error {
	return s.write(ctx, func(w *writer) error {
		if _, _, err := s.state.NextTrial(id); err != nil {
			return err
		}
		w.attrs(studyUserAttr, studySystemAttr, "study_id", fmt.Sprint(id), attrs)
		return nil
	})
}

// CreateTrial makes a trial.
func (s *Storage) CreateTrial(ctx context.Context, id search.StudyID, fill func(*search.Trial) error) (*search.Trial,
	error) {
	t := &search.Trial{}
	err := s.write(ctx, func(w *writer) error {
		var err error
		if t.ID, t.Number, err = s.state.NextTrial(id); err != nil {
			return err
		}
		if fill != nil {
			if err := fill(t); err != nil {
				return err
			}
		}
		w.trial(id, t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// UpdateTrial changes a trial that is not finished.
func (s *Storage) UpdateTrial(ctx context.Context, id search.StudyID, number int, c search.Change) error {
	return s.write(ctx, func(w *writer) error {
		t, err := s.state.Trial(id, number)
		if err != nil {
			return err
		}
		if err := t.Clone().Apply(c); err != nil {
			return err
		}
		w.change(t.ID, c)
		return nil
	})
}

// Trials are those of a study whose number is at least from, or in also.
func (s *Storage) Trials(ctx context.Context, id search.StudyID, from int, also []int) ([]*search.Trial, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.read(); err != nil {
		return nil, err
	}
	return s.state.Trials(ctx, id, from, also)
}

// Close does nothing: the file is open while it is read or written only.
func (s *Storage) Close() error { return nil }
