// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lathe/frontend/safetensors"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
	"lathe/ir/hlo"
	"lathe/ir/text"
)

// average is a running mean.
type average struct {
	sum float64
	n   int
}

func (m *average) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

func (m *average) value() float64 { return m.sum / float64(max(m.n, 1)) }

// text is the sum and the number of terms.
func (m *average) text() string {
	return strconv.FormatFloat(m.sum, 'g', -1, 64) + " " + strconv.Itoa(m.n)
}

// kept is how many checkpoints stay in a folder.
const kept = 3

// latest is the file of a folder that names its last whole checkpoint.
const latest = "latest"

// saved is a checkpoint.
type saved struct {
	step        int
	first, last average
	state       []hlo.Array
}

// digests tell what a checkpoint belongs to.
func (t *Trainer) digests() []safetensors.Text {
	short := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return hex.EncodeToString(sum[:])[:16]
	}
	o := t.options
	graph := text.Print(t.model.Graph())
	for _, p := range t.model.Params {
		a := hlo.FromFloat32s(p.Shape, p.Start)
		graph += p.Name + a.Type.String() + short(string(a.Data))
	}
	settings := fmt.Sprintf("%+v %+v %+v %+v %+v %d", o.Train, o.Prune, o.LoRA, o.Distill, o.Bits, t.steps)
	return []safetensors.Text{{Name: "model", Value: short(graph)}, {Name: "plan", Value: short(settings)},
		{Name: "data", Value: t.set.Digest()}}
}

// save writes a checkpoint, and then names it in the folder: until then the one before counts.
func (t *Trainer) save(ctx context.Context) error {
	arrays, err := download(ctx, t.state)
	if err != nil {
		return err
	}
	var tensors []safetensors.Tensor
	dtype := map[hlo.DType]string{hlo.F32: "F32", hlo.I32: "I32"}
	for i, a := range arrays {
		tensors = append(tensors, safetensors.Tensor{Name: strconv.Itoa(i), DType: dtype[a.Type.DType], Shape: a.Type.Dims,
			Data: a.Data})
	}
	for i, l := range t.all {
		if l.mask != nil {
			tensors = append(tensors, safetensors.Tensor{Name: "mask " + strconv.Itoa(i), DType: "I8", Shape: l.Shape,
				Data: maskBytes(l.mask)})
		}
	}
	texts := append(slices.Clone(t.belongs), safetensors.Text{Name: "step", Value: strconv.Itoa(t.done)},
		safetensors.Text{Name: "first", Value: t.first.text()}, safetensors.Text{Name: "last", Value: t.last.text()})
	dir := t.options.Folder
	name := fmt.Sprintf("step-%08d.safetensors", t.done)
	err = atomicfile.Write(filepath.Join(dir, name), func(w io.Writer) error {
		return safetensors.Write(w, tensors, texts)
	})
	if err != nil {
		return notSaved(dir, err)
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, latest), []byte(name+"\n")); err != nil {
		return notSaved(dir, err)
	}
	arrays, tensors = nil, nil
	t.giveBack()
	return t.forget(dir)
}

// interrupted saves, and says how to go on.
func (t *Trainer) interrupted() error {
	e := diag.New(diag.TrainInterrupted, t.set.Name, "training was interrupted at step %d of %d", t.done, t.total)
	if t.options.Folder == "" {
		return e
	}
	if err := t.save(context.Background()); err != nil {
		return err
	}
	return e.WithHint("the same command goes on from %s", t.options.Folder)
}

func notSaved(dir string, err error) error {
	if p, ok := err.(*os.PathError); ok {
		err = p.Err
	}
	return diag.New(diag.CheckpointFile, dir, "the checkpoint cannot be written: %v; the last whole one stays", err)
}

// forget removes checkpoints that are neither among the last ones nor the one that counts.
func (t *Trainer) forget(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "step-*.safetensors"))
	if err != nil {
		return notSaved(dir, err)
	}
	slices.Sort(names)
	for _, n := range names[:max(len(names)-kept, 0)] {
		if err := os.Remove(n); err != nil {
			return notSaved(dir, err)
		}
	}
	return nil
}

// load reads the checkpoint that the folder names; nil where there is none.
func (t *Trainer) load() (*saved, error) {
	dir := t.options.Folder
	name, err := os.ReadFile(filepath.Join(dir, latest))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, diag.New(diag.CheckpointFile, dir, "the checkpoint cannot be read: %v", err)
	}
	file, err := safetensors.Open(filepath.Join(dir, filepath.Base(strings.TrimSpace(string(name)))))
	if err != nil {
		return nil, err
	}
	facts := map[string]string{}
	for _, x := range file.Metadata {
		facts[x.Name] = x.Value
	}
	for _, d := range t.belongs {
		if facts[d.Name] != d.Value {
			return nil, diag.New(diag.CheckpointOther, dir, "the checkpoint belongs to another %s: digest %s, and this is %s",
				d.Name, facts[d.Name], d.Value).WithHint("remove %s to begin anew, or name another --log folder", dir)
		}
	}
	s := &saved{}
	if _, err := fmt.Sscan(facts["step"]+" "+facts["first"]+" "+facts["last"], &s.step, &s.first.sum, &s.first.n,
		&s.last.sum, &s.last.n); err != nil {
		return nil, diag.New(diag.CheckpointFile, file.Base, "does not say at which step it was written")
	}
	byName := map[string]safetensors.Tensor{}
	for _, x := range file.Tensors {
		byName[x.Name] = x
	}
	for i, want := range t.start {
		x := byName[strconv.Itoa(i)]
		a := hlo.Array{Type: want.Type, Data: x.Data}
		if a.Check() != "" {
			return nil, diag.New(diag.CheckpointFile, file.Base, "array %d of the state is %d bytes long, not %d", i,
				len(x.Data), len(want.Data))
		}
		s.state = append(s.state, a)
	}
	for i := range t.all {
		if l := &t.all[i]; l.mask != nil {
			x := byName["mask "+strconv.Itoa(i)]
			if len(x.Data) != len(l.mask) {
				return nil, diag.New(diag.CheckpointFile, file.Base, "the mask of %q is missing", l.Name)
			}
			for k, v := range x.Data {
				l.mask[k] = v != 0
			}
		}
	}
	return s, nil
}
