// SPDX-License-Identifier: Apache-2.0

package training

import (
	"os"
	"path/filepath"
	"testing"

	"lathe/internal/driver"
	"lathe/ir/text"
)

// TestFiles reads a model and its data once: what a run does to its graph is not seen by the next one.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"model.onnx", "train.npz", "train_labels.npy"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", "digits-mlp", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	task := &Task{Source: driver.Source{Model: at("model.onnx")}, Files: &Files{}}
	first, err := task.Files.graph(task.Source)
	if err != nil {
		t.Fatal(err)
	}
	want := text.Print(first)
	p := &prepared{imported: first}
	d, err := task.read(p, at("train.npz"), at("train_labels.npy"), false)
	if err != nil {
		t.Fatal(err)
	}
	first.Nodes = first.Nodes[:1]
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	again, err := task.Files.graph(task.Source)
	if err != nil {
		t.Fatal(err)
	}
	if got := text.Print(again); got != want {
		t.Errorf("the second run gets the graph\n%s", got)
	}
	if other, err := task.read(p, at("train.npz"), at("train_labels.npy"), false); err != nil || other != d {
		t.Errorf("data are read again: %v", err)
	}
	if _, err := task.Files.graph(driver.Source{Model: at("other.onnx")}); err == nil {
		t.Error("a model of another name is that of the first")
	}
}
