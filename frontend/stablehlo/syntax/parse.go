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
type stopped struct {
	err *diag.Error
	// final says that the lexer stopped, for which there is no second attempt: it would go on behind what it refused.
	final bool
}

// SyntaxError places the error; lines and columns of the parser are those of the code, not of the source.
func (l *listener) SyntaxError(r antlr.Recognizer, symbol any, _, _ int, msg string, _ antlr.RecognitionException) {
	at, what, final := len(l.f.text), "", false
	switch t := symbol.(type) {
	case antlr.Token:
		at = t.GetStart()
		if what = strings.TrimPrefix(t.GetText(), "<EOF>"); what == "" {
			panic(stopped{err: l.f.errorAt(diag.MLIRSyntax, l.f.origin(len(l.f.text)), "the text ends too early")})
		}
	default:
		if lexer, ok := r.(*antlr.BaseLexer); ok {
			at = min(lexer.TokenStartCharIndex, len(l.f.text)-1)
			what, final = l.f.text[at:at+1], true
		}
	}
	if what == "" {
		what = msg
	}
	panic(stopped{l.f.errorAt(diag.MLIRSyntax, l.f.origin(at), "unexpected %q", shortened(what)), final})
}

func shortened(s string) string {
	if len(s) > 40 {
		return s[:37] + "..."
	}
	return s
}

// parse runs the parser over the code, with one token of context in its decisions first, which is enough for what
// compilers print and stops at the first error without a word. Texts that do not pass are read again by the means of
// the library, which say what is wrong, and with all context if need be.
func (f *File) parse() error {
	f.text, f.code = string(f.code), nil
	list, ok := f.quick()
	if !ok {
		var err error
		if list, err = f.thorough(); err != nil {
			return err
		}
	}
	return f.read(list)
}

// strict stops the parser at the first error, by a panic; without Sync, which looks for errors at every step of a loop
// that the next token that must match finds as well.
type strict struct{ *antlr.DefaultErrorStrategy }

// refused is the panic of strict.
type refused struct{}

func (strict) Sync(antlr.Parser)                                    {}
func (strict) ReportMatch(antlr.Parser)                             {}
func (strict) InErrorRecoveryMode(antlr.Parser) bool                { return false }
func (strict) RecoverInline(antlr.Parser) antlr.Token               { panic(refused{}) }
func (strict) Recover(antlr.Parser, antlr.RecognitionException)     { panic(refused{}) }
func (strict) ReportError(antlr.Parser, antlr.RecognitionException) { panic(refused{}) }

// quick lexes and parses without a tree; ok is false if there is an error, or what needs more context.
func (f *File) quick() (list []lexeme, ok bool) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case refused, antlr.RecognitionException:
			list, ok = nil, false
		default:
			panic(p)
		}
	}()
	in := &tokens{list: lex(f.text)}
	parser := mlir.NewMlirParser(in)
	in.parser = parser
	parser.BuildParseTrees = false
	parser.RemoveErrorListeners()
	parser.SetErrorHandler(strict{antlr.NewDefaultErrorStrategy()})
	parser.GetInterpreter().SetPredictionMode(antlr.PredictionModeSLL)
	parser.File()
	return in.list, true
}

// thorough parses with the first error told, and then with all context.
func (f *File) thorough() ([]lexeme, error) {
	errs := &listener{f: f}
	lexer := mlir.NewMlirLexer(antlr.NewInputStream(f.text))
	lexer.RemoveErrorListeners()
	lexer.AddErrorListener(errs)
	in := &noted{CommonTokenStream: antlr.NewCommonTokenStream(lexer, antlr.TokenDefaultChannel)}
	parser := mlir.NewMlirParser(in)
	in.parser = parser
	parser.BuildParseTrees = false
	parser.RemoveErrorListeners()
	parser.AddErrorListener(errs)
	parser.GetInterpreter().SetPredictionMode(antlr.PredictionModeSLL)
	stop := attempt(parser)
	if stop.err != nil && !stop.final {
		parser.GetInterpreter().SetPredictionMode(antlr.PredictionModeLL)
		stop = attempt(parser)
	}
	if stop.err != nil {
		return nil, stop.err
	}
	return in.lexemes(), nil
}

func attempt(parser *mlir.MlirParser) (stop stopped) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case stopped:
			stop = p
		default:
			panic(p)
		}
	}()
	parser.GetTokenStream().Seek(0)
	parser.SetInputStream(parser.GetTokenStream())
	parser.File()
	return stopped{}
}
