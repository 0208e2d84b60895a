// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"fmt"
	"strconv"

	"lathe/search"
)

// named reads the distributions of a new trial, each text once: the trials of a study often have the same.
func (s *Storage) named(text json.RawMessage) ([]search.Named, error) {
	if text == nil {
		return nil, nil
	}
	if list, ok := s.spaces[string(text)]; ok {
		return list, nil
	}
	var all fields
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	list := make([]search.Named, 0, len(all))
	for _, f := range all {
		text, err := strconv.Unquote(string(f.value))
		if err != nil {
			return nil, fmt.Errorf("distribution of %s: %w", f.key, err)
		}
		d, err := s.dist(text)
		if err != nil {
			return nil, err
		}
		list = append(list, search.Named{Name: f.key, Dist: d})
	}
	if len(s.spaces) < 1000 { // those of 4.x have one parameter more each
		s.spaces[string(text)] = list
	}
	return list, nil
}

// dist reads a distribution, each text once.
func (s *Storage) dist(text string) (*search.Distribution, error) {
	if d := s.dists[text]; d != nil {
		return d, nil
	}
	d, err := search.ParseDistribution(text)
	if err == nil {
		s.dists[text] = d
	}
	return d, err
}
