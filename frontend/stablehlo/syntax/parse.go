// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"strings"

	"github.com/antlr4-go/antlr/v4"

	"lathe/internal/diag"
	"lathe/internal/parser/mlir"
)

// listener stops the parser at the first error, by a panic that attempt catches.
type listener struct {
	*antlr.DefaultErrorListener
	f *File
}

// stopped is the panic of a listener.
type stopped struct{ err *diag.Error }

// SyntaxError places the error; lines and columns of the parser are those of the code, not of the source.
func (l *listener) SyntaxError(r antlr.Recognizer, symbol any, _, _ int, msg string, _ antlr.RecognitionException) {
	at, what := len(l.f.code), ""
	switch t := symbol.(type) {
	case antlr.Token:
		at = t.GetStart()
		if what = strings.TrimPrefix(t.GetText(), "<EOF>"); what == "" {
			panic(stopped{l.f.errorAt(CodeSyntax, l.f.origin(len(l.f.code)), "the text ends too early")})
		}
	default:
		if lexer, ok := r.(*antlr.BaseLexer); ok {
			at = min(lexer.TokenStartCharIndex, len(l.f.code)-1)
			what = string(l.f.code[at])
		}
	}
	if what == "" {
		what = msg
	}
	panic(stopped{l.f.errorAt(CodeSyntax, l.f.origin(at), "unexpected %q", shortened(what))})
}

func shortened(s string) string {
	if len(s) > 40 {
		return s[:37] + "..."
	}
	return s
}

// parse runs the parser over the code, with one token of context in its decisions first, which is enough for what
// compilers print, and else with all of it.
func (f *File) parse() error {
	errs := &listener{f: f}
	lexer := mlir.NewMlirLexer(antlr.NewInputStream(string(f.code)))
	lexer.RemoveErrorListeners()
	lexer.AddErrorListener(errs)
	tokens := antlr.NewCommonTokenStream(lexer, antlr.TokenDefaultChannel)
	parser := mlir.NewMlirParser(tokens)
	parser.RemoveErrorListeners()
	parser.AddErrorListener(errs)
	parser.GetInterpreter().SetPredictionMode(antlr.PredictionModeSLL)
	tree, err := attempt(parser)
	if err != nil {
		parser.GetInterpreter().SetPredictionMode(antlr.PredictionModeLL)
		if tree, err = attempt(parser); err != nil {
			return err
		}
	}
	return f.read(tree)
}

func attempt(parser *mlir.MlirParser) (tree mlir.IFileContext, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stopped:
			err = p.err
		default:
			panic(p)
		}
	}()
	parser.GetTokenStream().Seek(0) // the lexer may stop, too
	parser.SetInputStream(parser.GetTokenStream())
	return parser.File(), nil
}
