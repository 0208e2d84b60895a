// SPDX-License-Identifier: Apache-2.0

package onnx

import (
	"fmt"
	"slices"
	"strings"

	"lathe/frontend/build"
	"lathe/internal/diag"
	"lathe/ir"
	"lathe/ir/op/column"
	"lathe/ir/op/curve"
	"lathe/ir/op/norm"
	"lathe/ir/op/pointwise"
	"lathe/ir/op/reduce"
	"lathe/ir/op/sum"
	"lathe/ir/op/whole"
)

// classic is the domain of what scikit-learn's models consist of, as skl2onnx writes them.
const classic = "ai.onnx.ml."

// careless is the producer whose declared shapes of labels and scores are often not those that it computes.
const careless = "skl2onnx"

// classicTable lists the operations of that domain.
func classicTable() []opSpec {
	const labels = "classlabels_ints classlabels_strings classlabels_int64s"
	return []opSpec{
		{classic + "Scaler", "offset scale", 1, 1, convertScaler, false},
		{classic + "Normalizer", "norm", 1, 1, convertNormalizer, false},
		{classic + "Binarizer", "threshold", 1, 1, convertBinarizer, false},
		{classic + "LinearRegressor", "coefficients intercepts targets post_transform", 1, 1, convertRegressor, false},
		{classic + "LinearClassifier", "coefficients intercepts multi_class post_transform " + labels, 1, 1,
			convertClassifier, true},
		{classic + "ArrayFeatureExtractor", "", 2, 2, convertExtractor, false},
		{classic + "ZipMap", labels, 1, 1, convertZipMap, false},
	}
}

const (
	noSums = "decides by comparisons, and Lathe builds networks and linear models, which are sums of products"
	noText = "works on texts or categories, and hardware takes numbers"
	// other says what to do instead of a tree.
	other = "train an MLPClassifier, an MLPRegressor or a linear model on the same data; " +
		"for trees on FPGAs there are tools of their own, such as conifer"
	numbers = "encode the features before the model, and export the model alone"
)

// classicRefusals are operations of that domain without a form here, why, and what to do.
func classicRefusals() []refusal {
	return []refusal{
		{classic + "TreeEnsembleClassifier", "is an ensemble of decision trees: it " + noSums, other},
		{classic + "TreeEnsembleRegressor", "is an ensemble of decision trees: it " + noSums, other},
		{classic + "TreeEnsemble", "is an ensemble of decision trees: it " + noSums, other},
		{classic + "SVMClassifier", "is a support vector machine: it compares each sample with all support vectors",
			"a linear kernel is LinearSVC, which works; for others train an MLPClassifier on the same data"},
		{classic + "SVMRegressor", "is a support vector machine: it compares each sample with all support vectors",
			"a linear kernel is LinearSVR, which works; for others train an MLPRegressor on the same data"},
		{classic + "OneHotEncoder", noText, numbers}, {classic + "LabelEncoder", noText, numbers},
		{classic + "CategoryMapper", noText, numbers}, {classic + "DictVectorizer", noText, numbers},
		{classic + "CastMap", noText, numbers}, {classic + "FeatureVectorizer", noText, numbers},
		{classic + "Imputer", "fills in values that are missing, which hardware cannot tell", "fill them in before the " +
			"model, and export the model alone"},
		{"Scan", "repeats a part of the model, as skl2onnx writes nearest neighbours", "train an MLPClassifier or an " +
			"MLPRegressor on the same data in place of nearest neighbours; of other loops, export a model without them"},
		{"StringNormalizer", noText, numbers}, {"TfIdfVectorizer", noText, numbers},
	}
}

// trained reads an attribute of floats, as many as one of the sizes where there are any; nil where it is absent.
func (c *call) trained(name string, sizes ...int) []float32 {
	a := c.attr(name, kindFloats)
	if a == nil {
		return nil
	}
	if len(sizes) > 0 && !slices.Contains(sizes, len(a.floats)) {
		c.fail(diag.BadAttribute, "attribute %s has %d numbers for %d features", name, len(a.floats), slices.Max(sizes))
	}
	return a.floats
}

// features is input 0 as real numbers, with the number of its columns.
func (c *call) features() (x *ir.Node, columns int) {
	if x = c.arg(0); c.err != nil {
		return nil, 0
	}
	if !x.Type.IsFloat() {
		x = c.emit("float", whole.Convert, &whole.ConvertAttrs{To: ir.F32}, x)
	}
	shape := c.shape(0)
	if len(shape) == 0 || shape[len(shape)-1] == 0 {
		c.fail(diag.OperandShapes, "takes rows of features, not %s", ir.ShapeString(shape))
		return nil, 0
	}
	return x, shape[len(shape)-1]
}

// stored is a constant of trained numbers.
func (c *call) stored(role string, v []float32, shape ...int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n, err := c.b.Stored(c.label+"."+role, ir.FloatBlob(v), shape, build.Unsaid(shape))
	c.wrap(diag.BadDimension, err)
	return n
}

// convertScaler is (x - offset)*scale.
func convertScaler(c *call) {
	x, columns := c.features()
	offset, scale := c.trained("offset", 1, columns), c.trained("scale", 1, columns)
	if slices.ContainsFunc(offset, func(v float32) bool { return v != 0 }) {
		x = c.emit("offset", pointwise.Sub, nil, x, c.stored("mean", offset, len(offset)))
	}
	if scale == nil {
		c.named(x)
		return
	}
	c.result(c.emit("", pointwise.Mul, nil, x, c.stored("scale", scale, len(scale))))
}

// least keeps the length of a row of zeros from dividing by 0.
const least = 1e-30

// convertNormalizer divides each row by its length. Behind a softmax the sum of the row is 1 already.
func convertNormalizer(c *call) {
	x, _ := c.features()
	if c.err != nil {
		return
	}
	kind := c.string("norm", "MAX")
	axes := &reduce.Attrs{Axes: []int{len(x.Type.Shape) - 1}}
	var length *ir.Node
	switch kind {
	case "L1":
		if c.unit[x] {
			c.named(x)
			return
		}
		length = c.emit("length", reduce.Sum, axes, c.emit("abs", curve.Abs, nil, x))
	case "L2":
		squares := c.emit("squares", reduce.Sum, axes, c.emit("square", pointwise.Mul, nil, x, x))
		length = c.emit("length", curve.Sqrt, nil, squares)
	case "MAX":
		length = c.emit("length", reduce.Max, axes, x)
		zero := c.emit("zero", whole.Compare, &whole.CompareAttrs{Rel: "eq"}, length, c.number(0, "nothing"))
		length = c.emit("divisor", whole.Where, nil, zero, c.number(1, "one"), length)
		c.result(c.emit("", whole.Div, nil, x, length))
		return
	default:
		c.fail(diag.BadAttribute, "norm %s is none of MAX, L1 and L2", quote(kind))
	}
	length = c.emit("divisor", pointwise.Max, nil, length, c.number(least, "least"))
	inverse := c.emit("inverse", curve.Reciprocal, &curve.ReciprocalAttrs{Numerator: 1}, length)
	c.result(c.emit("", pointwise.Mul, nil, x, inverse))
}

// convertBinarizer is 1 above a threshold, else 0.
func convertBinarizer(c *call) {
	x, _ := c.features()
	threshold := c.number(c.float("threshold", 0), "threshold")
	above := c.emit("above", whole.Compare, &whole.CompareAttrs{Rel: "gt"}, x, threshold)
	c.result(c.emit("", whole.Convert, &whole.ConvertAttrs{To: ir.F32}, above))
}

// rows is x times the coefficients, a row a result, plus the intercepts.
func (c *call) rows(suffix string, x *ir.Node, coefficients, intercepts []float32, columns int) *ir.Node {
	if c.err != nil {
		return nil
	}
	n := len(coefficients) / columns
	if n == 0 || n*columns != len(coefficients) || intercepts != nil && len(intercepts) != n {
		c.fail(diag.BadAttribute, "has %d coefficients and %d intercepts for %d features", len(coefficients), len(intercepts),
			columns)
		return nil
	}
	if len(x.Type.Shape) == 1 {
		x = c.reshape("row", x, []int{1, columns})
	}
	w := c.stored("coefficients", coefficients, n, columns)
	if intercepts == nil {
		return c.emit(suffix, sum.Linear, nil, x, w)
	}
	return c.emit(suffix, sum.Linear, nil, x, w, c.stored("intercepts", intercepts, n))
}

func convertRegressor(c *call) {
	x, columns := c.features()
	coefficients, intercepts := c.trained("coefficients"), c.trained("intercepts")
	if t := int(c.int("targets", 1)); c.err == nil && len(coefficients) != t*columns {
		c.fail(diag.BadAttribute, "has %d coefficients for %d targets and %d features", len(coefficients), t, columns)
	}
	if p := c.string("post_transform", "NONE"); p != "NONE" {
		c.fail(diag.UnsupportedForm, "transforms its results by %s; NONE is supported", quote(p))
	}
	c.result(c.rows("", x, coefficients, intercepts, columns))
}

// convertClassifier gives labels, those of the largest scores, and scores. With one row of coefficients for two classes
// the score of the first class is the other's negative.
func convertClassifier(c *call) {
	x, columns := c.features()
	coefficients, intercepts := c.trained("coefficients"), c.trained("intercepts")
	names := c.labels()
	single := c.err == nil && len(coefficients) == columns && len(names) == 2
	if single {
		coefficients = slices.Concat(negative(coefficients), coefficients)
		if intercepts != nil {
			intercepts = slices.Concat(negative(intercepts), intercepts)
		}
	}
	z := c.rows("", x, coefficients, intercepts, columns)
	if c.err == nil && z.Type.Shape[1] > len(names) {
		c.fail(diag.BadAttribute, "has %d labels for %d classes", len(names), z.Type.Shape[1])
	}
	if c.wants(0) {
		place := c.emit("place", reduce.ArgMax, &reduce.ArgMaxAttrs{Axis: 1}, z)
		c.labelled(place, names)
	}
	if !c.wants(1) || c.err != nil {
		return
	}
	switch post := c.string("post_transform", "NONE"); {
	case post == "LOGISTIC":
		z = c.emit("logistic", curve.Sigmoid, nil, z)
	case single && (post == "NONE" || post == "SOFTMAX"):
		z = c.emit("both", pointwise.Add, nil, z, c.made("one", ir.FloatBlob([]float32{1, 0}), []int{2}))
	case post == "SOFTMAX":
		z = c.emit("softmax", norm.Softmax, &column.AxisAttrs{Axis: 1}, z)
		c.unit[z] = true
	case post != "NONE":
		c.fail(diag.UnsupportedForm, "transforms its scores by %s; NONE, SOFTMAX and LOGISTIC are supported", quote(post))
	}
	c.resultAt(1, z)
}

func negative(v []float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = -x
	}
	return out
}

// labelled makes result 0 of places in a list of labels: whole numbers, or the places where the labels are texts.
func (c *call) labelled(place *ir.Node, names []class) {
	if c.err != nil {
		return
	}
	values := make([]int64, len(names))
	for i, n := range names {
		if values[i] = n.number; n.isText {
			c.noteLabels(names)
			c.resultAt(0, place)
			c.fr.values[c.n.out[0]].dtype = dtypeInt64
			return
		}
	}
	table := c.whole64("labels", []int{len(values)}, values...)
	c.resultAt(0, c.emit("label", whole.Gather, &column.AxisAttrs{}, table, place))
}

// class is what a classifier calls a class: a whole number or a text.
type class struct {
	number int64
	text   string
	isText bool
}

func (l class) String() string {
	if l.isText {
		return l.text
	}
	return fmt.Sprint(l.number)
}

// maxLabels bounds the labels that a note lists.
const maxLabels = 20

func listed(names []class, numbered bool) string {
	var list []string
	for i, n := range names[:min(len(names), maxLabels)] {
		text := clip(n.String())
		if numbered {
			text = fmt.Sprintf("%d %s", i, text)
		}
		list = append(list, text)
	}
	if len(names) > maxLabels {
		list = append(list, "...")
	}
	return strings.Join(list, ", ")
}

// noteLabels says that labels are numbers here.
func (c *call) noteLabels(names []class) {
	text := "labels are texts in the file and their numbers here: " + listed(names, true)
	c.b.Origin().Notes = append(c.b.Origin().Notes, text)
}

// labels reads the classes from the attribute that holds them.
func (c *call) labels() (names []class) {
	for _, name := range []string{"classlabels_ints", "classlabels_int64s"} {
		if a := c.attr(name, kindInts); a != nil {
			for _, v := range a.ints {
				names = append(names, class{number: v})
			}
		}
	}
	if a := c.attr("classlabels_strings", kindTexts); a != nil {
		for _, s := range a.texts {
			names = append(names, class{text: string(s[:min(len(s), maxName)]), isText: true})
		}
	}
	return names
}

// convertZipMap leaves the array of probabilities as it is, a column a class, and names those.
func convertZipMap(c *call) {
	c.b.Origin().Notes = append(c.b.Origin().Notes, fmt.Sprintf("%s is an array and no list of maps: a column "+
		"a class (%s)", quote(c.n.out[0]), listed(c.labels(), false)))
	c.named(c.arg(0))
}

// convertExtractor picks columns. Where those of a constant list of labels are picked, texts stay numbers.
func convertExtractor(c *call) {
	data, shape := c.in[0], c.shape(0)
	if len(shape) == 0 {
		c.fail(diag.OperandShapes, "picks columns of a single number")
	}
	at := c.indices(1)
	if c.err != nil {
		return
	}
	columns := shape[len(shape)-1]
	list := c.reshape("places", at, []int{at.Type.Elems()})
	to := append(slices.Clone(shape[:len(shape)-1]), at.Type.Elems())
	if len(shape) == 1 {
		to = []int{1, at.Type.Elems()}
	}
	if data.tensor != nil && data.dtype == dtypeString {
		texts, err := data.tensor.texts()
		c.wrap(diag.TensorData, err)
		var names []class
		for _, s := range texts {
			names = append(names, class{text: s, isText: true})
		}
		if c.err == nil && len(names) != columns {
			c.fail(diag.TensorData, "reads %d texts where %d are stated", len(names), columns)
		}
		c.noteLabels(names)
		if c.result(c.reshape("", at, to)); c.err == nil {
			c.fr.values[c.n.out[0]].dtype = dtypeInt64
		}
		return
	}
	x := c.arg(0)
	index, constant := build.Ints(list)
	for _, v := range index {
		if v < 0 || v >= int64(columns) {
			c.fail(diag.ConstantExpression, "picks column %d of %d", v, columns)
		}
	}
	if c.err != nil {
		return
	}
	if !constant || x.IsConst() || len(index) > maxPieces {
		picked := c.emit("label", whole.Gather, &column.AxisAttrs{Axis: len(shape) - 1}, x, list)
		c.result(c.reshape("", picked, to))
		return
	}
	var places []int
	for _, v := range index {
		places = append(places, int(v))
	}
	c.result(c.reshape("", c.pick(x, len(shape)-1, places), to))
}
