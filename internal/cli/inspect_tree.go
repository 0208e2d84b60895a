// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strconv"
	"strings"

	"lathe/internal/diag"
	"lathe/ir/survey"
	"lathe/lower/float"
)

// printTree prints modules with what they and the modules in them consist of. Modules that are numbered in a row and
// alike stand as one line, whose numbers are those of each.
func (a *App) printTree(modules []survey.Module, depth int) error {
	rows := [][]string{{"module", "class", "nodes", "parameters", "own", "MACs", "activations"}}
	kinds := alike(modules)
	for i := 0; i < len(modules); {
		m := modules[i]
		end := after(modules, i)
		if depth > 0 && m.Depth > depth {
			i = end
			continue
		}
		label, class := lastPart(m.Path), m.Class[strings.LastIndexByte(m.Class, '.')+1:]
		copies, next := 1, end
		for next < len(modules) && modules[next].Depth == m.Depth && kinds[next] == kinds[i] &&
			follows(modules[i].Path, modules[next].Path, copies) {
			copies, next = copies+1, after(modules, next)
		}
		if copies > 1 {
			first, _ := strconv.Atoi(label)
			label = fmt.Sprintf("%d..%d", first, first+copies-1)
			class = strings.TrimSpace(fmt.Sprintf("%d x %s", copies, class))
		}
		rows = append(rows, []string{strings.Repeat("  ", m.Depth) + label, class, fmt.Sprint(m.Nodes),
			unlessZero(m.Params), unlessZero(m.Own), unlessZero(m.MACs), byteText(m.Bytes)})
		if copies > 1 { // the inside of the first stands for all
			inside := append([]survey.Module{}, modules[i+1:end]...)
			modules = append(append(modules[:i+1:i+1], inside...), modules[next:]...)
			kinds = append(append(kinds[:i+1:i+1], kinds[i+1:end]...), kinds[next:]...)
		}
		i++
	}
	return a.table(rows)
}

// after is the place behind module i and all modules in it.
func after(modules []survey.Module, i int) int {
	end := i + 1
	for end < len(modules) && modules[end].Depth > modules[i].Depth {
		end++
	}
	return end
}

// follows says that the last part of next is the number n behind that of first, in the same module.
func follows(first, next string, n int) bool {
	a, errA := strconv.Atoi(lastPart(first))
	b, errB := strconv.Atoi(lastPart(next))
	return errA == nil && errB == nil && b == a+n
}

func lastPart(path string) string {
	if path == "" {
		return "(model)"
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}

// alike numbers modules by what they consist of: two have the same number where only their own name differs.
func alike(modules []survey.Module) []int {
	kinds := make([]int, len(modules))
	known := map[string]int{}
	for i := len(modules) - 1; i >= 0; i-- {
		m := modules[i]
		key := fmt.Sprint(m.Class, m.Nodes, m.Sizes, m.Own)
		for k := i + 1; k < after(modules, i); k = after(modules, k) {
			key += fmt.Sprint(" ", lastPart(modules[k].Path), " ", kinds[k])
		}
		if known[key] == 0 {
			known[key] = len(known) + 1
		}
		kinds[i] = known[key]
	}
	return kinds
}

// byteText prints a size: 328 B, 1.3 kB, 4.5 MB.
func byteText(n int) string {
	v, units := float64(n), []string{"B", "kB", "MB", "GB", "TB"}
	for v >= 1000 && len(units) > 1 {
		v, units = v/1000, units[1:]
	}
	if units[0] == "B" {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", v, units[0])
}

// printTotals prints what holds for the whole graph, and what the model file has beside it.
func (a *App) printTotals(f graphFacts) {
	fmt.Fprintf(a.Out, "\n%s: %s graph, %s, %s; outputs:", f.Name, f.Stage, counted(len(f.Nodes), "node"),
		counted(f.Params, "parameter"))
	for _, o := range f.Outputs {
		fmt.Fprintf(a.Out, " %s", o)
	}
	fmt.Fprintf(a.Out, "\nparameters: %s", byteText(f.ParamBytes))
	if f.Used != f.Params {
		fmt.Fprintf(a.Out, ", %d where shared ones count at each use", f.Used)
	}
	if f.Buffers > 0 {
		fmt.Fprintf(a.Out, "; buffers: %s", counted(f.Buffers, "element"))
	}
	if f.Whole > 0 {
		fmt.Fprintf(a.Out, "; constants of whole numbers: %s", counted(f.Whole, "element"))
	}
	fmt.Fprintf(a.Out, "\na sample: %s, activations %s, at most %s at a time\n", counted(f.MACs, "MAC"), byteText(f.Bytes),
		byteText(f.Peak))
	if f.File != nil {
		fmt.Fprintf(a.Out, "file: %s\n", strings.TrimSuffix(f.File.Format+" of "+f.File.Producer, " of "))
		if f.File.Dropouts > 0 {
			fmt.Fprintf(a.Out, "left out: %s\n", counted(f.File.Dropouts, "dropout"))
		}
	}
	a.printOdd("inputs that nobody reads", f.Unread)
	a.printOdd("computed, and read by nobody", f.Dangling)
	if f.File == nil {
		return
	}
	a.printOdd("inputs that the file gives a value, and so are constants", f.File.Shadowed)
	var renamed []string
	for _, r := range f.File.Renamed {
		renamed = append(renamed, r.From+" -> "+r.To)
	}
	a.printOdd("names that stand for several nodes", renamed)
	for _, n := range f.File.Notes {
		fmt.Fprintf(a.Out, "note: %s\n", n)
	}
}

func (a *App) printOdd(what string, names []string) {
	if len(names) > 0 {
		fmt.Fprintf(a.Out, "%s: %s\n", what, some(names))
	}
}

// some lists names, the first eight of many.
func some(names []string) string {
	const shown = 8
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// found counts the operations that were made of others.
type found struct {
	Op    string   `json:"op"`
	Count int      `json:"count"`
	Nodes []string `json:"nodes"`
}

func foundFacts(r *float.Report) []found {
	if r == nil {
		return nil
	}
	var list []found
	for _, f := range r.Recognized {
		list = append(list, found{f.Op, len(f.Nodes), f.Nodes})
	}
	return list
}

// printFound prints what was recognized, and how far each pass moved the outputs of samples.
func (a *App) printFound(list []found, r *float.Report) {
	if r == nil {
		return
	}
	if len(list) == 0 {
		fmt.Fprintln(a.Out, "recognized: nothing")
	}
	for _, f := range list {
		fmt.Fprintf(a.Out, "recognized: %d %s: %s\n", f.Count, f.Op, some(f.Nodes))
	}
	for _, n := range r.Notes {
		fmt.Fprintf(a.Out, "note: %s\n", n)
	}
	for _, p := range r.Passes {
		if p.Verified && !p.Loss.Same {
			fmt.Fprintf(a.Out, "pass %s: outputs of random samples move by up to %s, %.2g of the greatest\n", p.Name,
				diag.Number(p.Loss.MaxErr, 2), p.Loss.Relative)
		}
	}
}
