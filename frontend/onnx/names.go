// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"strconv"
	"strings"
)

// label is the readable name of a node: the path of the module that it comes from where the exporter recorded one
// ("conv1", "layer1.0.bn2"), else the name of the node or of its first result.
func (n *node) label() string {
	if path := n.modulePath(); path != "" {
		return path
	}
	if strings.HasPrefix(n.name, "/") {
		return legacyPath(n.name)
	}
	if n.name != "" {
		return n.name
	}
	for _, o := range n.out {
		if o != "" {
			return o
		}
	}
	return strings.ToLower(n.op)
}

// modulePath reads the metadata of PyTorch's exporter. The scopes run from the model to the traced function:
// [”, 'layer1', 'layer1.0', 'conv2d']; the classes have the same length.
func (n *node) modulePath() string {
	scopes, classes := pythonList(n.scopes), pythonList(n.classes)
	if len(scopes) == 0 {
		scopes, classes = namespace(string(n.namespace))
	}
	if len(scopes) < 2 || strings.HasPrefix(scopes[0], "_empty_") {
		return ""
	}
	path, function := scopes[len(scopes)-2], scopes[len(scopes)-1]
	if path == "" {
		return function
	}
	if len(classes) == len(scopes) && !strings.HasPrefix(classes[len(classes)-2], "torch.nn.modules.") {
		return path + "." + function // a function that a module of the user calls
	}
	return path
}

// namespace reads "name: class/name: class".
func namespace(text string) (scopes, classes []string) {
	for _, part := range strings.Split(text, "/") {
		scope, class, ok := strings.Cut(part, ": ")
		if !ok {
			return nil, nil
		}
		scopes, classes = append(scopes, scope), append(classes, class)
	}
	return scopes, classes
}

// pythonList reads the text of a Python list of plain strings; nil if it is something else.
func pythonList(text []byte) []string {
	s := string(text)
	if len(s) < 2 || len(s) > maxName || s[0] != '[' || s[len(s)-1] != ']' {
		return nil
	}
	parts := strings.Split(s[1:len(s)-1], ", ")
	for i, p := range parts {
		if len(p) < 2 || p[0] != p[len(p)-1] || p[0] != '\'' && p[0] != '"' {
			return nil
		}
		parts[i] = p[1 : len(p)-1]
	}
	return parts
}

// legacyPath turns the node names of PyTorch's older exporter into module paths: "/conv1/Conv" is conv1,
// "/layer1/layer1.0/conv1/Conv" is layer1.0.conv1, and "/Relu_1", which belongs to no module, is relu_1.
func legacyPath(name string) string {
	parts := strings.Split(strings.TrimPrefix(name, "/"), "/")
	if len(parts) == 1 {
		return strings.ToLower(parts[0])
	}
	path := ""
	for i, p := range parts[:len(parts)-1] {
		if i+2 < len(parts) && strings.HasPrefix(parts[i+1], p+".") {
			continue // the next part repeats this one
		}
		if path != "" {
			path += "."
		}
		path += p
	}
	return path
}

// findContainers collects the modules that hold other modules, by the node names of the older exporter.
func (im *importer) findContainers() {
	const deepest = 16
	im.containers = map[string]bool{}
	for i := range im.model.graph.nodes {
		name := im.model.graph.nodes[i].name
		if !strings.HasPrefix(name, "/") || strings.Count(name, "/") < 2 {
			continue
		}
		path := legacyPath(name)
		for range deepest {
			dot := strings.LastIndexByte(path, '.')
			if dot < 0 {
				break
			}
			path = path[:dot]
			im.containers[path] = true
		}
	}
}

// label is that of the node; what a module of modules computes itself carries the operation too: "/block1/Add" beside
// "/block1/conv1/Conv" is block1.add.
func (im *importer) label(fr *frame, n *node) string {
	label := n.label()
	if im.containers[label] && strings.HasPrefix(n.name, "/") {
		label += "." + strings.ToLower(n.name[strings.LastIndexByte(n.name, '/')+1:])
	}
	return fr.prefix + label
}

// maxShown bounds names in messages.
const maxShown = 100

// quote prints a name of the file in bounded length.
func quote(name string) string {
	if len(name) > maxShown {
		name = name[:maxShown] + "..."
	}
	return strconv.Quote(name)
}

// clip is quote without the quotation marks.
func clip(name string) string {
	q := quote(name)
	return q[1 : len(q)-1]
}
