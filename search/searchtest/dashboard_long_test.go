// SPDX-License-Identifier: Apache-2.0

//go:build long

package searchtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lathe/internal/tools"
	"lathe/search"
	"lathe/search/sampler"
)

// TestDashboard: optuna-dashboard opens a study of each storage, and answers at six addresses with what is in it.
func TestDashboard(t *testing.T) {
	python := tools.NeedPeers(t)
	for _, kind := range []string{"journal", "sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			open, where := empty(t, kind)
			first := 1 // the ID that Optuna gives the first study
			if kind == "journal" {
				first = 0
			}
			storage, err := open()
			if err != nil {
				t.Fatal(err)
			}
			fill(t, storage)
			if err := storage.Close(); err != nil {
				t.Fatal(err)
			}
			ask := dashboard(t, filepath.Join(filepath.Dir(python), "optuna-dashboard"), where)
			for _, page := range []struct{ path, want string }{
				{"/api/studies", `"study_name":"s"`},
				{fmt.Sprintf("/api/studies/%d", first), `"name":"s"`},
				{fmt.Sprintf("/api/studies/%d/param_importances", first), `"param_importances"`},
				{fmt.Sprintf("/csv/%d", first), "Number,State,loss"},
				{fmt.Sprintf("/dashboard/studies/%d", first), "<html"},
				{"/static/bundle.js", "function"},
			} {
				if text := strings.ReplaceAll(ask(page.path), `": `, `":`); !strings.Contains(text, page.want) {
					t.Errorf("%s: no %q in %.300q", page.path, page.want, text)
				}
			}
			var study struct {
				Trials []struct{ Number int }
			}
			if err := json.Unmarshal([]byte(ask(fmt.Sprintf("/api/studies/%d", first))), &study); err != nil ||
				len(study.Trials) != 12 || study.Trials[11].Number != 11 {
				t.Errorf("%d trials, %v", len(study.Trials), err)
			}
		})
	}
}

// fill makes a study of one objective with 12 trials.
func fill(t *testing.T, storage search.Storage) {
	t.Helper()
	id, err := storage.CreateStudy(t.Context(), "s", ways[:1])
	if err == nil {
		err = storage.SetStudy(t.Context(), id, search.Attr{System: true, Key: search.NamesKey,
			Value: search.Encode([]string{"loss"})})
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: ways[:1]}, Storage: storage,
		Space: search.Space{{Name: "w", Dist: search.NewInt(4, 16, 4, false)},
			{Name: "x", Dist: search.NewFloat(1e-3, 1, 0, true)}},
		Sampler: sampler.NewTPE(0, sampler.TPEOptions{})}
	for range 12 {
		trial, err := s.Ask(t.Context())
		if err == nil {
			err = s.Tell(t.Context(), trial.Number, search.Complete, []float64{trial.Param("w").Value / 16})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// dashboard serves a storage on this machine while the test runs, and returns what asks for a page.
func dashboard(t *testing.T, program, where string) func(path string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close() // the dashboard takes it
	c := exec.CommandContext(t.Context(), program, where, "--host", "127.0.0.1", "--port", port)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- c.Wait() }()
	t.Cleanup(func() { <-end })
	base := "http://127.0.0.1:" + port
	for serves := false; !serves; {
		if r, err := http.Get(base + "/api/studies"); err == nil {
			r.Body.Close()
			serves = true
		}
		select {
		case err := <-end:
			end <- err
			t.Fatalf("the dashboard ends: %v\n%s", err, said.String())
		case <-time.After(100 * time.Millisecond): // until it serves, or go test gives up
		}
	}
	return func(path string) string {
		r, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v\n%.300s", path, r.Status, err, text)
		}
		return string(text)
	}
}
