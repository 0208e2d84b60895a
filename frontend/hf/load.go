// SPDX-License-Identifier: Apache-2.0

// Package hf reads the folders of Hugging Face's transformers: config.json, which describes a model of one of several
// architectures, and safetensors files, which hold its weights. The architectures are built here, one file each, out of
// shared blocks, with the names that modules and parameters have there.
package hf

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/safetensors"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

// architecture is one kind of model.
type architecture struct {
	// modelType and class are its names in config.json: "bert", and the beginning of "BertForMaskedLM".
	modelType, class string
	// base is the prefix of the bare model within one with a head: "bert.".
	base string
	// inputs are those that can be chosen; the first needed ones are the default.
	inputs []string
	needed int
	// caches says that keys and values of earlier tokens can be inputs, and all of them outputs.
	caches bool
	// tied says that the last layer shares the weights of the embedding unless config.json says otherwise.
	tied bool
	// pad is one more than the number of the padding token by default; 0 for none.
	pad    int
	sizes  func(c *config) sizes
	body   func(m *model) *ir.Node
	pooler func(m *model, x *ir.Node) *ir.Node
	heads  []head
	// tested are the folders of testdata, and example is one of examples/; limits says what is not supported. All are
	// for the documentation.
	tested          []string
	example, limits string
}

// sizes are what the shapes of an architecture's parameters follow from. Not all have all.
type sizes struct {
	hidden, layers, inner, vocab int
	// headCount heads of headSize, which share the keys and values of groups.
	headCount, groups, headSize int
	// positions is the most tokens there can be, 0 for any number; rows is the length of the table of positions.
	positions, rows int
	// wordSize is the size of embeddings where it is not hidden.
	wordSize int
	eps      float64
}

// outSize is the size of what the body gives.
func (s *sizes) outSize() int {
	if s.wordSize > 0 {
		return s.wordSize
	}
	return s.hidden
}

// architectures lists them all.
func architectures() []*architecture {
	return []*architecture{&bert, &roberta, &distilbert, &vit, &gpt2, &opt, &llama, &mistral, &qwen2, &qwen3}
}

// IsFolder says that a folder has the file that describes a model.
func IsFolder(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, configName))
	return err == nil
}

// describe reads the file that describes a model, and finds its architecture and the head of a task.
func describe(dir, task string) (*config, *architecture, *head, error) {
	file, err := source.Open(filepath.Join(dir, configName))
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := readConfig(folderName(dir)+"/"+configName, file.Data)
	if err != nil {
		return nil, nil, nil, err
	}
	arch, h, err := choose(c, task)
	return c, arch, h, err
}

// Load reads the model in a folder.
func Load(dir string, opts source.Options) (*ir.Graph, error) {
	c, arch, h, err := describe(dir, opts.Transformer.Task)
	if err != nil {
		return nil, err
	}
	var tensors []safetensors.Tensor
	if n := opts.Transformer.New; n != nil {
		c.resize(n)
	} else if tensors, err = safetensors.OpenFolder(dir); err != nil {
		return nil, inFolder(folderName(dir), err)
	}
	return convert(folderName(dir), c, arch, h, tensors, opts)
}

// inFolder puts the name of the folder before the place of an error in one of its files.
func inFolder(folder string, err error) error {
	d, ok := err.(*diag.Error)
	if !ok || d.Pos == folder || strings.Contains(d.Pos, "/") {
		return err
	}
	moved := *d
	moved.Pos = folder + "/" + d.Pos
	return &moved
}

// folderName is the name of a folder for messages; that of "." is the folder's own.
func folderName(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return filepath.Base(dir)
}

// choose finds the architecture and the head: those of config.json, or that of a task.
func choose(c *config, task string) (*architecture, *head, error) {
	class := ""
	if v := c.find("architectures"); v != nil {
		names, err := v.List()
		if err != nil {
			return nil, nil, err
		}
		if len(names) > 0 {
			if class, err = names[0].Str(); err != nil {
				return nil, nil, err
			}
		}
	}
	kind := c.text("", "model_type")
	if c.err != nil {
		return nil, nil, c.err
	}
	all := architectures()
	i := slices.IndexFunc(all, func(a *architecture) bool {
		return a.modelType == kind || kind == "" && class != "" && a.suffix(class) != ""
	})
	if i < 0 {
		return nil, nil, unknown(c, kind, class)
	}
	if v := c.find("quantization_config"); v != nil {
		return nil, nil, v.Errorf(diag.FolderSetting, "weights that are quantized already are not supported").
			WithHint("take the folder of the model in float32, float16 or bfloat16")
	}
	h, err := all[i].head(c, class, task)
	return all[i], h, err
}

// suffix is what follows the name of the architecture in the name of a class, "" where it is another's.
func (a *architecture) suffix(class string) string {
	rest, ok := strings.CutPrefix(class, a.class)
	if ok && (rest == "Model" || rest == "LMHeadModel" || strings.HasPrefix(rest, "For")) {
		return rest
	}
	return ""
}

// unknown lists what is known.
func unknown(c *config, kind, class string) error {
	what := source.Quote(kind)
	if kind == "" {
		if what = source.Quote(class); class == "" {
			return c.root.Errorf(diag.UnknownArchitecture, "names no architecture: it has neither model_type nor architectures")
		}
	}
	e := c.root.Errorf(diag.UnknownArchitecture, "models of the architecture %s are not supported", what)
	var names []string
	for _, a := range architectures() {
		names = append(names, a.modelType)
	}
	e = e.WithNote("supported are %s", strings.Join(names, ", "))
	if near := diag.Nearest(kind, names); near != "" {
		return e.WithHint("the nearest is %s", near)
	}
	return e.WithHint("export the model to ONNX or with torch.export")
}

// head finds the head of a task, or else that of a class; nil stands for the bare model.
func (a *architecture) head(c *config, class, task string) (*head, error) {
	suffix := a.suffix(class)
	if suffix == "ForPreTraining" && task == "" {
		task = maskedLM
	}
	tasks := []string{encoder}
	for i := range a.heads {
		h := &a.heads[i]
		if task == h.task || task == "" && h.suffix == suffix {
			return h, nil
		}
		tasks = append(tasks, h.task)
	}
	switch {
	case task == encoder || task == "" && (class == "" || suffix == "Model"):
		return nil, nil
	case task != "":
		e := diag.New(diag.UnofferedChoice, c.root.Pos(), "%s models have no task %s", a.modelType, source.Quote(task))
		hintNearest(e, task, tasks)
		return nil, e
	}
	return nil, c.root.Get("architectures").Errorf(diag.UnknownArchitecture, "the class %s is not supported",
		source.Quote(class)).
		WithHint("--task takes another head, or none: %s", strings.Join(tasks, ", "))
}

// convert builds the graph.
func convert(base string, c *config, arch *architecture, h *head, tensors []safetensors.Tensor,
	opts source.Options) (*ir.Graph, error) {
	m := &model{config: c, arch: arch, opts: opts.Transformer, w: newWeights(tensors, arch.base)}
	m.b = build.New(arch.modelType, base)
	m.none = &ir.Node{Name: "none", Type: ir.Float()}
	if m.root = arch.base; h == nil && !m.w.prefixed() {
		m.root = ""
	}
	m.sizes = arch.sizes(c)
	m.checkSizes()
	m.choices(h)
	m.bind(opts)
	m.makeInputs()
	class := arch.class + "Model"
	if h != nil {
		m.module("", arch.class+h.suffix)
	}
	m.module(strings.TrimSuffix(m.root, "."), class)
	x := arch.body(m)
	m.finish(h, x)
	m.checkShapes(opts)
	m.leftOut()
	if m.err != nil {
		return nil, m.err
	}
	if err := m.w.check(base); err != nil {
		return nil, err
	}
	g, err := m.b.Finish()
	if err != nil {
		return nil, err
	}
	g.Origin = m.origin(tensors)
	return g, nil
}

// The largest models: what is larger comes from a broken file.
const (
	maxLayers = 1 << 12
	maxSize   = 1 << 20 // of vectors
	maxTurns  = 1 << 26 // angles of rotary positions
)

// checkSizes bounds what the graph's own size follows from.
func (m *model) checkSizes() {
	widest := max(m.hidden, m.inner, m.headSize*max(m.headCount, 1), m.wordSize)
	switch {
	case m.layers > maxLayers:
		m.fail(m.config.root.Errorf(diag.ModelLimit, "describes %d layers, at most %d are read", m.layers, maxLayers))
	case widest > maxSize:
		m.fail(m.config.root.Errorf(diag.ModelLimit, "describes vectors of %d, at most %d are read", widest, maxSize))
	}
}

// choices refuses what the architecture and the head do not offer.
func (m *model) choices(h *head) {
	switch {
	case m.opts.Past < 0:
		m.choice("%d tokens in the caches are fewer than none", m.opts.Past)
	case m.opts.Room < 0 || m.opts.Room > maxCount:
		m.choice("caches of %d tokens are out of range", m.opts.Room)
	case m.opts.Room > 0 && m.opts.Cache:
		m.choice("caches of %d tokens (--max-seq) do not grow: they take no number of earlier tokens (--past)", m.opts.Room)
	case (m.opts.Cache || m.opts.Room > 0) && !m.arch.caches:
		m.choice("%s models have no caches of keys and values", m.arch.modelType)
	case m.opts.Loss && h == nil:
		m.choice("a model without a head has no loss")
	case m.opts.Seq < 0 || m.opts.Seq > maxCount:
		m.choice("%d tokens are out of range", m.opts.Seq)
	case m.opts.Seq > 0 && m.arch.inputs[0] == "pixel_values":
		m.choice("%s models take images, no tokens", m.arch.modelType)
	}
}

// choice is the error of a choice that the model does not offer.
func (m *model) choice(msg string, args ...any) *ir.Node {
	m.fail(diag.New(diag.UnofferedChoice, m.b.File, msg, args...))
	return m.none
}

// origin says what the folder holds beside the values.
func (m *model) origin(tensors []safetensors.Tensor) *ir.Origin {
	o := &ir.Origin{Format: "Hugging Face", Modules: m.modules}
	if v := m.text("", "transformers_version"); v != "" {
		o.Producer = "transformers " + v
	}
	said := m.dtype()
	for _, d := range []struct{ stored, name string }{{"F16", "float16"}, {"BF16", "bfloat16"}, {"F32", "float32"},
		{"F64", "float64"}} {
		count := 0
		for i := range tensors {
			if tensors[i].DType == d.stored {
				count++
			}
		}
		if count > 0 && d.name != said {
			o.Notes = append(o.Notes, fmt.Sprintf("%s describes a model of %s; %d of its tensors are %s, and are taken as they "+
				"are stored", configName, said, count, d.name))
		}
	}
	return o
}
