// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/onnx"
	"lathe/golden"
	"lathe/golden/pjrt"
	"lathe/internal/evidence"
	"lathe/ir/ref"
)

const nodesPage = "docs/onnx.md"

// nodes runs the node tests of the ONNX project about the operations that -run matches, keeps what they say as
// evidence, and prints the page.
func nodes(ctx context.Context, f *flags, _ []string, say func(string)) error {
	e, err := evidence.Read(evidenceDir)
	if err != nil {
		return err
	}
	tests, err := onnx.NodeTests(filepath.Join(f.cache, "onnx", "node-tests.whl"))
	if err != nil {
		return fmt.Errorf("%w: scripts/setup --onnx fetches it", err)
	}
	eng, err := engines(f)
	if err != nil {
		return err
	}
	engine, err := pjrt.Start(ctx, eng.PJRT)
	if err != nil {
		return err
	}
	defer engine.Close()
	lines := nodeLines(tests, func(c *onnx.NodeTest) string {
		if !f.run.MatchString(c.Op) {
			return ""
		}
		why := nodeFault(c.Name, runNode(ctx, engine, c))
		if why != "" {
			say(fmt.Sprintf("%s (%s): %s", c.Name, c.Op, why))
		}
		return why
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, n := range lines {
		old := slices.IndexFunc(e.Nodes, func(o evidence.Nodes) bool { return o.Op == n.Op })
		if n.Apart == "" && !f.run.MatchString(n.Op) && old >= 0 {
			lines[i] = e.Nodes[old]
		}
	}
	e.Nodes = lines
	return saveNodes(e)
}

// saveNodes writes the evidence and prints docs/onnx.md.
func saveNodes(e *evidence.Evidence) error {
	if err := e.Write(evidenceDir); err != nil {
		return err
	}
	return write(nodesPage, e.NodesPage())
}

// nodeLines are the lines of tests: the operations by name, then the reasons for leaving tests out. fault says why one
// in scope fails; "": it passes.
func nodeLines(tests []*onnx.NodeTest, fault func(*onnx.NodeTest) string) []evidence.Nodes {
	var all []evidence.Nodes
	for _, c := range tests {
		n := evidence.Nodes{Op: c.Op, Apart: c.Apart}
		if c.Apart != "" {
			n.Op = ""
		}
		at := slices.IndexFunc(all, func(o evidence.Nodes) bool { return o.Op == n.Op && o.Apart == n.Apart })
		if at < 0 {
			at, all = len(all), append(all, n)
		}
		all[at].Tests++
		if c.Apart != "" {
			continue
		}
		if why := fault(c); why != "" {
			all[at].Faults = append(all[at].Faults, evidence.Fault{Test: c.Name, Why: why})
		}
	}
	slices.SortFunc(all, func(a, b evidence.Nodes) int {
		return cmp.Or(cmp.Compare(a.Apart, b.Apart), cmp.Compare(a.Op, b.Op))
	})
	return all
}

// runNode imports a test and compares what the reference and PJRT make of it.
func runNode(ctx context.Context, engine *pjrt.Engine, c *onnx.NodeTest) error {
	g, s, err := c.Load()
	if err != nil {
		return err
	}
	p, err := ref.New(g)
	if err != nil {
		return fmt.Errorf("ref: %w", err)
	}
	out, err := p.Run(ctx, []ref.Sample{s})
	if err == nil {
		err = c.Compare(out[0])
	}
	if err != nil {
		return fmt.Errorf("ref: %w", err)
	}
	if out, err = golden.RunPJRT(ctx, engine, g, []ref.Sample{s}, false, nil); err == nil {
		err = c.Compare(out[0])
	}
	if err != nil {
		return fmt.Errorf("pjrt: %w", err)
	}
	return nil
}

// nodeFault is why a test fails, without the place; "" without an error.
func nodeFault(name string, err error) string {
	if err == nil {
		return ""
	}
	if strings.HasPrefix(name, "resize_") && strings.Contains(name, "_scales_") &&
		strings.HasSuffix(name, "_align_corners") {
		return "scales that give no whole size: with align_corners the size counts here, the product there"
	}
	text := strings.ReplaceAll(err.Error(), "\n", " ")
	if _, after, ok := strings.Cut(text, "L0"); ok && len(after) > 4 && after[2] != ' ' {
		if _, msg, ok := strings.Cut(after, ": "); ok {
			text = msg
		}
	}
	text, _, _ = strings.Cut(text, "   hint")
	return text
}
