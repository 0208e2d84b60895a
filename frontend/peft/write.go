// SPDX-License-Identifier: Apache-2.0

package peft

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lathe/frontend/safetensors"
	"lathe/internal/atomicfile"
	"lathe/internal/diag"
)

// Adapter is what is written.
type Adapter struct {
	// Base is the path of the model as the user gave it.
	Base        string
	Rank        int
	Alpha       float64
	FanInFanOut bool
	Products    []Product
	// Whole are parameters that were trained as they are: biases of modules with an adapter, and all of other modules.
	Whole []Matrix
}

// Product is the adapter of the matrix of a module: A has rank rows, B rank columns.
type Product struct {
	Module string
	A, B   Matrix
}

// Matrix is an array of a name.
type Matrix struct {
	Name   string
	Shape  []int
	Values []float32
}

// Write writes a folder that PEFT, and Merge, read. Errors are those of files.
func Write(dir string, a *Adapter) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return diag.New(diag.FileWrite, dir, "cannot write: %v", err)
	}
	var tensors []safetensors.Tensor
	var targets, saved []string
	biases := "none"
	for _, p := range a.Products {
		targets = append(targets, p.Module)
		tensors = append(tensors, tensor(prefix+p.Module+".lora_A.weight", &p.A),
			tensor(prefix+p.Module+".lora_B.weight", &p.B))
	}
	for i := range a.Whole {
		w := &a.Whole[i]
		tensors = append(tensors, tensor(prefix+w.Name, w))
		switch module := Module(w.Name); {
		case slices.Contains(targets, module):
			biases = "lora_only"
		case !slices.Contains(saved, module):
			saved = append(saved, module)
		}
	}
	config, err := json.MarshalIndent(struct {
		Type     string   `json:"peft_type"`
		Base     string   `json:"base_model_name_or_path"`
		Rank     int      `json:"r"`
		Alpha    float64  `json:"lora_alpha"`
		Dropout  float64  `json:"lora_dropout"`
		Bias     string   `json:"bias"`
		FanIn    bool     `json:"fan_in_fan_out"`
		Targets  []string `json:"target_modules"`
		Saved    []string `json:"modules_to_save"`
		Inferred bool     `json:"inference_mode"`
	}{"LORA", a.Base, a.Rank, a.Alpha, 0, biases, a.FanInFanOut, targets, saved, true}, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(dir, TensorName)
	err = atomicfile.Write(path, func(w io.Writer) error {
		return safetensors.Write(w, tensors, []safetensors.Text{{Name: "format", Value: "pt"}})
	})
	if err == nil {
		path = filepath.Join(dir, ConfigName)
		err = atomicfile.WriteBytes(path, append(config, '\n'))
	}
	if err != nil {
		return diag.New(diag.FileWrite, path, "cannot write: %v", err)
	}
	return nil
}

// Module is the module of a parameter.
func Module(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i]
	}
	return name
}

func tensor(name string, m *Matrix) safetensors.Tensor {
	t := safetensors.Tensor{Name: name, DType: "F32", Shape: m.Shape}
	for _, v := range m.Values {
		t.Data = binary.LittleEndian.AppendUint32(t.Data, math.Float32bits(v))
	}
	return t
}
