// SPDX-License-Identifier: Apache-2.0

package safetensors

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/source"
	"lathe/internal/diag"
)

// The names that the library gives to the files of a model.
const (
	singleName = "model.safetensors"
	indexName  = "model.safetensors.index.json"
)

// maxShards bounds the files of one model.
const maxShards = 10_000

// OpenFolder reads the weights of a folder: model.safetensors, or the files that model.safetensors.index.json names. No
// two tensors have the same name, and those of an index are exactly those of its files.
func OpenFolder(dir string) ([]Tensor, error) {
	switch path := filepath.Join(dir, indexName); {
	case exists(filepath.Join(dir, singleName)):
		f, err := Open(filepath.Join(dir, singleName))
		if err != nil {
			return nil, err
		}
		return f.Tensors, nil
	case exists(path):
		return openShards(dir, path)
	}
	return nil, noWeights(dir)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// pickles are the names of weights that only Python reads: they are programs, and never run here.
var pickles = []string{".bin", ".pt", ".pth", ".ckpt", ".pkl"}

// noWeights says what a folder holds in place of weights.
func noWeights(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return diag.New(diag.ModelOpen, dir, "cannot be read: %v", source.Reason(err))
	}
	e := diag.New(diag.NoWeights, filepath.Base(dir), "has no %s and no %s", singleName, indexName)
	for _, entry := range entries {
		name := entry.Name()
		switch ext := strings.ToLower(filepath.Ext(name)); {
		case slices.Contains(pickles, ext):
			return diag.New(diag.NoWeights, filepath.Base(dir), "has its weights in %s, a Python pickle, which is not read",
				source.Quote(name)).
				WithHint("convert it once in Python: AutoModel.from_pretrained(folder).save_pretrained(folder), with the " +
					"class that config.json names in place of AutoModel")
		case ext == ".h5" || ext == ".msgpack" || ext == ".gguf" || ext == ".onnx":
			e = e.WithNote("there is %s", source.Quote(name))
		case ext == ".safetensors":
			e = e.WithNote("there is %s, without the index that names it", source.Quote(name))
		}
		if len(e.Notes) == 5 {
			break
		}
	}
	return e.WithHint("put the weights there: model.save_pretrained(folder)")
}

// openShards reads the files of an index.
func openShards(dir, path string) ([]Tensor, error) {
	file, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	root, err := source.ParseJSON(file.Base, file.Data)
	if err != nil {
		return nil, err
	}
	table, err := root.Need("weight_map")
	if err != nil {
		return nil, err
	}
	names, err := shards(table)
	if err != nil {
		return nil, err
	}
	var all []Tensor
	seen := map[string]string{}
	for _, name := range names {
		f, err := Open(filepath.Join(dir, name))
		if err != nil {
			if !exists(filepath.Join(dir, name)) {
				return nil, diag.New(diag.ExternalData, file.Base, "names the file %s, which is not there", source.Quote(name))
			}
			return nil, err
		}
		for _, t := range f.Tensors {
			if other := seen[t.Name]; other != "" {
				return nil, diag.New(diag.DuplicateName, name, "tensor %s stands in %s, too", source.Quote(t.Name), other)
			}
			seen[t.Name] = name
		}
		all = append(all, f.Tensors...)
	}
	return all, agree(table, seen)
}

// shards are the files that the table of an index names, in its order.
func shards(table *source.JSON) ([]string, error) {
	entries, err := table.Object()
	if err != nil {
		return nil, err
	}
	var names []string
	known := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		name, err := e.Str()
		if err != nil {
			return nil, err
		}
		if known[name] {
			continue
		}
		if !plain(name) {
			return nil, e.Errorf(diag.ExternalData, "%s is not a plain name of a .safetensors file", source.Quote(name))
		}
		if known[name] = true; len(known) > maxShards {
			return nil, table.Errorf(diag.ModelLimit, "names more than %d files", maxShards)
		}
		names = append(names, name)
	}
	return names, nil
}

// plain says that a name stays in its folder.
func plain(name string) bool {
	return strings.HasSuffix(name, ".safetensors") && !strings.HasPrefix(name, ".") &&
		!strings.ContainsAny(name, "/\\:\x00")
}

// agree demands that each tensor of an index stands in the file that it names, and that there are no others.
func agree(table *source.JSON, seen map[string]string) error {
	listed := 0
	for i := range table.Items {
		e := &table.Items[i]
		name, _ := e.Str()
		switch have, ok := seen[e.Key]; {
		case !ok:
			return e.Errorf(diag.UndefinedValue, "tensor %s is not in %s", source.Quote(e.Key), name)
		case have != name:
			return e.Errorf(diag.UndefinedValue, "tensor %s is in %s, not in %s", source.Quote(e.Key), have, name)
		}
		listed++
	}
	if listed == len(seen) {
		return nil
	}
	var extra []string
	for name := range seen {
		if table.Get(name) == nil {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	return table.Errorf(diag.UndefinedValue, "does not name %d tensors of its files, such as %s", len(extra),
		source.Quote(extra[0]))
}
