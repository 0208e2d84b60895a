// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"lathe/internal/diag"
	"lathe/internal/npz"
)

// shapeFlags give shapes to the inputs that a model leaves open.
type shapeFlags struct {
	given   []string // x=1x8x8
	example string   // arrays that have the shapes
}

func (s *shapeFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&s.given, "shape", nil, "shape of an input: x=1x8x8")
	c.Flags().StringVar(&s.example, "example", "", "arrays (.npz), named as the inputs, whose shapes the inputs take")
}

// shapes are those of the example's arrays, and those that are given, which win.
func (s *shapeFlags) shapes() (map[string][]int, error) {
	if s.example == "" && len(s.given) == 0 {
		return nil, nil
	}
	shapes := map[string][]int{}
	if s.example != "" {
		f, err := npz.Read(s.example)
		if err != nil {
			return nil, err
		}
		for _, a := range f.Arrays {
			shapes[a.Name] = a.Shape
		}
	}
	given := map[string][]int{}
	for _, text := range s.given {
		name, dims, ok := strings.Cut(text, "=")
		shape, err := parseShape(dims)
		if !ok || name == "" || err != nil {
			return nil, &usageError{diag.New(diag.Usage, "", "--shape %q is not a shape of an input", text).
				WithHint("write name=1x8x8")}
		}
		if given[name] != nil {
			return nil, &usageError{diag.New(diag.Usage, "", "--shape gives input %q two shapes", name)}
		}
		given[name] = shape
	}
	maps.Copy(shapes, given)
	return shapes, nil
}

// parseShape reads 1x8x8.
func parseShape(text string) ([]int, error) {
	var shape []int
	for part := range strings.SplitSeq(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 1 {
			return nil, strconv.ErrSyntax
		}
		shape = append(shape, n)
	}
	return shape, nil
}
