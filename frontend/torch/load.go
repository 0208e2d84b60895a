// SPDX-License-Identifier: Apache-2.0

// Package torch imports programs that torch.export saved (.pt2 archives, schema 8) as float graphs.
//
// The archive is mapped; of its members only the JSON texts are read, weights stay views of the mapping, and pickles
// are never opened. Decoding (records.go, weights.go, dims.go) checks the archive's own statements against each other;
// conversion (importer.go, call.go, ops_*.go) makes graph nodes from ATen operations, both right after export and after
// run_decompositions, and holds every result against the shape that the archive states.
package torch

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"

	"lathe/frontend/build"
	"lathe/frontend/source"
	"lathe/internal/diag"
	"lathe/ir"
)

const exportHint = "export it: torch.export.save(torch.export.export(model.eval(), inputs), \"model.pt2\")"

// Sniff says that data may be an archive of PyTorch or a pickle: a zip file whose first member is no NumPy array.
func Sniff(head []byte) bool {
	if isPickle(head) {
		return true
	}
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
		return false
	}
	if len(head) < 30 {
		return true
	}
	size := int(head[26]) | int(head[27])<<8
	return !bytes.HasSuffix(head[30:min(30+size, len(head))], []byte(".npy"))
}

// isPickle knows pickles of protocols 2 to 5, and the legacy format of torch.save, which begins with one.
func isPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

// Load imports the program at path. Errors are *diag.Error or diag.List.
func Load(path string, opts source.Options) (*ir.Graph, error) {
	file, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	return Parse(file.Base, file.Data, opts)
}

// Parse imports a program from memory, which must not change as long as the graph is in use. Name stands for the file
// name in messages.
func Parse(name string, data []byte, opts source.Options) (*ir.Graph, error) {
	g, err := parse(name, data, opts)
	var list diag.List
	if errors.As(err, &list) {
		return nil, diag.List{}.Add(list, diag.ModelBroken, name)
	}
	if err != nil {
		return nil, diag.At(err, diag.ModelBroken, name)
	}
	return g, nil
}

func parse(name string, data []byte, opts source.Options) (*ir.Graph, error) {
	if err := notArchive(data); err != nil {
		return nil, err
	}
	a, err := source.OpenArchive(data)
	if err != nil {
		return nil, err
	}
	p, err := open(name, a)
	if err != nil {
		return nil, err
	}
	im := &importer{program: p, opts: opts, b: build.New(stem(name), name)}
	return im.run()
}

// notArchive names what the file is if it is one of the usual mistakes.
func notArchive(data []byte) error {
	what, hint := source.LooksLike(data)
	switch {
	case isPickle(data):
		return diag.New(diag.Pickle, "", "is a Python pickle; pickles run code when they are read, and are never opened").
			WithHint("%s", exportHint)
	case bytes.HasPrefix(data, []byte("PK\x03\x04")) || bytes.HasPrefix(data, []byte("PK\x05\x06")):
		return nil
	case len(data) == 0:
		what = "an empty file"
	case what == "":
		what = "no zip archive"
	}
	return diag.New(diag.NotModel, "", "is not a PyTorch program: it is %s", what).WithHint("%s", hint)
}

// stem is the file name without its extension.
func stem(file string) string {
	base := filepath.Base(file)
	if s := strings.TrimSuffix(base, filepath.Ext(base)); s != "" {
		return s
	}
	return base
}

// program is an exported program: its archive, and the records of its texts.
type program struct {
	name    string
	archive *source.Archive
	root    string // the folder of the archive that holds everything
	graph   *graph
	inputs  []inputSpec
	outputs []outputSpec
	names   []string // of the outputs, as forward returns them; nil where the program has none
	// ranges are the sizes that symbols may have, by name.
	ranges  map[string][2]int64
	version string
	// stored are parameters and buffers by their names in the state_dict, and constants.
	stored map[string]*stored
}

// open finds the parts of an exported program and decodes its texts.
func open(name string, a *source.Archive) (*program, error) {
	p := &program{name: name, archive: a, stored: map[string]*stored{}}
	model, err := p.find()
	if err != nil {
		return nil, err
	}
	text, err := a.Read(model)
	if err != nil {
		return nil, err
	}
	root, err := source.ParseJSON(name+": "+model.Name, text)
	if err != nil {
		return nil, err
	}
	if err := p.decode(root); err != nil {
		return nil, err
	}
	label := strings.TrimSuffix(filepath.Base(model.Name), ".json")
	for _, kind := range []string{"weights", "constants"} {
		if err := p.config(kind, label); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// find returns the one text of a program: ROOT/models/NAME.json.
func (p *program) find() (*source.Member, error) {
	var models []*source.Member
	for i, m := range p.archive.Members() {
		root, rest, _ := strings.Cut(m.Name, "/")
		if strings.HasPrefix(rest, "models/") && strings.HasSuffix(rest, ".json") && strings.Count(rest, "/") == 1 {
			p.root = root
			models = append(models, &p.archive.Members()[i])
		}
	}
	switch len(models) {
	case 0:
		return nil, p.strange()
	case 1:
		return models[0], p.versions()
	}
	e := diag.New(diag.NoProgram, "", "the archive holds %d programs; one is needed", len(models))
	for _, m := range models[:min(len(models), 5)] {
		e = e.WithNote("%s", m.Name)
	}
	return nil, e.WithHint("save each program in a file of its own")
}

// strange says what an archive without a program is.
func (p *program) strange() error {
	for _, m := range p.archive.Members() {
		base := m.Name[strings.LastIndexByte(m.Name, '/')+1:]
		switch {
		case strings.Contains(m.Name, "/code/") || base == "constants.pkl":
			return diag.New(diag.Pickle, "", "is a TorchScript archive, which holds Python pickles; they are never opened").
				WithHint("%s", exportHint)
		case base == "data.pkl":
			return diag.New(diag.Pickle, "", "is a file of torch.save, which holds a Python pickle; pickles run code when "+
				"they are read, and are never opened").WithHint("%s", exportHint)
		case base == "serialized_exported_program.json":
			return diag.New(diag.OpsetVersion, "", "was exported by a PyTorch before 2.8, whose weights are pickled").
				WithHint("export the model again with a newer PyTorch")
		case strings.Contains(m.Name, "/aotinductor/"):
			return diag.New(diag.NoProgram, "", "holds compiled code and no exported program").WithHint("%s", exportHint)
		}
	}
	return diag.New(diag.NoProgram, "", "is a zip archive without an exported program: no FOLDER/models/NAME.json").
		WithHint("%s", exportHint)
}

// versions checks the small members that state the format.
func (p *program) versions() error {
	for name, want := range map[string]string{"byteorder": "little", "archive_format": "pt2", "archive_version": "0"} {
		m := p.archive.Find(p.root + "/" + name)
		if m == nil || m.Size > 100 {
			continue
		}
		text, err := p.archive.Read(m)
		if err != nil {
			return err
		}
		if have := strings.TrimSpace(string(text)); have != want {
			return diag.New(diag.OpsetVersion, "", "the archive states %s %q; %q is read", name, have, want)
		}
	}
	return nil
}
