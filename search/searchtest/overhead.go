// SPDX-License-Identifier: Apache-2.0

package searchtest

import (
	"context"
	"fmt"
	"testing"

	"lathe/search"
)

// Overhead measures what a storage costs a trial of 24 parameters: asking at random, and telling.
func Overhead(b *testing.B, s search.Storage, sampler search.Sampler) {
	ways := []search.Direction{search.Minimize}
	id, err := s.CreateStudy(context.Background(), "s", ways)
	if err != nil {
		b.Fatal(err)
	}
	study := &search.Study{Info: &search.StudyInfo{ID: id, Name: "s", Directions: ways}, Storage: s, Sampler: sampler}
	for i := range 24 {
		study.Space = append(study.Space, search.Parameter{Name: fmt.Sprintf("l%02d.w", i),
			Dist: search.NewWords("a", "b", "c", "d")})
	}
	for b.Loop() {
		trial, err := study.Ask(context.Background())
		if err == nil {
			err = study.Tell(context.Background(), trial.Number, search.Complete, []float64{1})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
