// SPDX-License-Identifier: Apache-2.0

package stablehlo

import (
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/stablehlo/syntax"
)

// endAt converts what is needed of the entry where the user ends the module, and makes the outputs of it.
func (im *importer) endAt(f *function, args []value) error {
	ops := f.body.Blocks[0].Ops
	made, labels := map[string]int{}, make([]string, len(ops))
	var known []string
	for i := range ops {
		labels[i] = label(im.Instr(&ops[i]))
		for _, name := range ops[i].Results {
			made[name] = i
			known = append(known, "%"+name)
		}
	}
	sc := &scope{values: map[string]value{}}
	for i, a := range f.args {
		sc.values[a.Name] = args[i]
		known = append(known, "%"+a.Name)
	}
	var ends []int
	var nodes []string // what must be the name of a node
	for _, name := range im.opts.Outputs {
		bare := strings.TrimPrefix(name, "%")
		if at, ok := made[bare]; ok {
			ends = append(ends, at)
		} else if _, ok := sc.values[bare]; !ok {
			nodes = append(nodes, name)
		}
	}
	more, lost := build.Ends(nodes, labels)
	if ends = append(ends, more...); len(lost) > 0 { // all, but for the one that returns
		for i := range ops {
			if len(ops[i].Results) > 0 {
				ends = append(ends, i)
			}
		}
	}
	live := build.Live(len(ops), ends, made, func(i int) []string { return im.reads(&ops[i], nil) })
	im.stack = append(im.stack, f.name)
	for i := range ops {
		if live[i] {
			im.convert(sc, &ops[i])
		}
	}
	if err := im.failed(nil); err != nil {
		if len(lost) > 0 {
			err = im.b.NoValue(lost[0], slices.Concat(known, labels))
		}
		return err
	}
	return im.b.EndAt(im.opts.Outputs, slices.Concat(known, labels), func(name string) (bool, error) {
		bare := strings.TrimPrefix(name, "%")
		v, ok := sc.values[bare]
		if !ok {
			return false, nil
		}
		n, err := im.expand(v, bare)
		if err == nil {
			im.b.Output(bare, n)
		}
		return true, err
	})
}

// label is what the names of an operation's nodes begin with.
func label(in *syntax.Instr) string {
	if name := locPath(in.Loc); name != "" {
		return name
	}
	if in.Callee != "" {
		return in.Callee
	}
	_, name, _ := strings.Cut(in.Op.Name, ".")
	return name
}

// reads adds the names that an operation and its regions read.
func (im *importer) reads(op *syntax.Op, names []string) []string {
	in := im.Instr(op)
	names = append(names, in.Operands...)
	for _, region := range in.Regions {
		for _, block := range region.Blocks {
			for i := range block.Ops {
				names = im.reads(&block.Ops[i], names)
			}
		}
	}
	return names
}
