// SPDX-License-Identifier: Apache-2.0

package hf

// Support is what is known of an architecture, for the documentation.
type Support struct {
	// Name is its model_type; Class begins the names of its classes.
	Name, Class string
	// Tasks are the heads that can be chosen, the bare model first.
	Tasks []string
	// Inputs are those that can be chosen; the first Default ones are taken without a choice.
	Inputs  []string
	Default int
	// Caches says that keys and values can be inputs and outputs.
	Caches bool
	// Tested are the folders of testdata that its tests compare with the source library; Example is one of examples/.
	Tested          []string
	Example, Limits string
}

// Supported lists all architectures.
func Supported() []Support {
	var all []Support
	for _, a := range architectures() {
		s := Support{Name: a.modelType, Class: a.class, Tasks: []string{encoder}, Inputs: a.inputs, Default: a.needed,
			Caches: a.caches, Tested: a.tested, Example: a.example, Limits: a.limits}
		for _, h := range a.heads {
			s.Tasks = append(s.Tasks, h.task)
		}
		all = append(all, s)
	}
	return all
}

// Activations are the names of functions that configurations may give.
func Activations() []string {
	names := make([]string, len(activations))
	for i, a := range activations {
		names[i] = a.name
	}
	return names
}
