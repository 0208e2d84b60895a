// SPDX-License-Identifier: Apache-2.0
//
// The text form of MLIR modules, as far as StableHLO programs use it. Attributes and the pretty forms of operations are
// trees of tokens, which frontend/stablehlo/syntax decodes; types and dense constants are single tokens. Lists of tokens
// are repeated and have no rule of their own, because every use of a rule costs memory.
//
// An operation ends where the next begins: nothing in its items starts with a dotted name, a string or "%x =", save
// behind the words "applies" and "composite" and behind "=".
grammar Mlir;

file : (alias | RESOURCES | op)* EOF ;
alias : (HASH | BANG) '=' (SYM | TYPE | DATA | HASH | BANG | INT | ID | paren | bracket | brace | angle)+ ;
op : DEF? name (SSA | TYPE | DATA | HASH | BANG | INT | FLOAT | CARET | ',' | ':' | '->' | '-' | '*' | '+' | '::' | '?' | ID
     | KEY (STRING | DOTTED)? | SYM '='? | 'applies' (DOTTED | STRING) | paren | bracket | brace | angle)* ;
name : DOTTED | STRING | COMPOSITE STRING | 'return' | 'call' | 'module' ;
brace : '{' ((op | label)+ | (entry (',' entry)*)?) '}' ;
label : CARET paren? ':' ;
entry : KEY value+ | (ID | DOTTED | STRING | TYPE | 'module' | 'call' | 'return' | 'applies') ('=' value+)? ;
value : INT | FLOAT | STRING | DATA | HASH | SYM | ID | KEY | DOTTED | TYPE | BANG | SSA | ':' | '->' | '-' | '*' | '+' | '::' | '='
      | 'module' | 'call' | 'return' | paren | bracket | brace | angle ;
paren : '(' (INT | FLOAT | STRING | DATA | HASH | SYM | ID | KEY | DOTTED | TYPE | BANG | SSA | DEF | CARET | ',' | ':' | '->' | '-' | '*'
     | '+' | '::' | '=' | '?' | 'module' | 'call' | 'return' | 'applies' | paren | bracket | brace | angle)* ')' ;
bracket : '[' (INT | FLOAT | STRING | DATA | HASH | SYM | ID | KEY | DOTTED | TYPE | BANG | SSA | DEF | CARET | ',' | ':' | '->' | '-' | '*'
     | '+' | '::' | '=' | '?' | 'module' | 'call' | 'return' | 'applies' | paren | bracket | brace | angle)* ']' ;
angle : '<' (INT | FLOAT | STRING | DATA | HASH | SYM | ID | KEY | DOTTED | TYPE | BANG | SSA | DEF | CARET | ',' | ':' | '->' | '-' | '*'
     | '+' | '::' | '=' | '?' | 'module' | 'call' | 'return' | 'applies' | paren | bracket | brace | angle)* '>' ;

COMPOSITE : 'stablehlo.composite' ;
TYPE : ('tensor' | 'vector' | 'memref' | 'complex' | 'tuple') ANGLE ;
DATA : ('dense' | 'dense_resource' | 'array' | 'sparse' | 'opaque' | 'affine_map' | 'affine_set' | 'strided') ANGLE ;
HASH : '#' WORD ANGLE? ;
BANG : '!' WORD ANGLE? ;
DEF : RESULT ([ \t]* ',' [ \t]* RESULT)* [ \t]* '=' ; // one token, for a list of operands may stand in front of it
SSA : '%' NAME ('#' [0-9]+)? ;
SYM : '@' (NAME | STRING) ;
CARET : '^' NAME ;
INT : '-'? [0-9]+ | '0x' [0-9a-fA-F]+ ;
FLOAT : '-'? [0-9]+ '.' [0-9]* ([eE] [+-]? [0-9]+)? ;
STRING : '"' (~["\\\r\n] | '\\' .)* '"' ;
DOTTED : [A-Za-z_] [A-Za-z0-9_$]* ('.' [A-Za-z0-9_$]+)+ ;
KEY : [A-Za-z_] [A-Za-z0-9_$]* [ \t]* '=' ; // one token, so that one decides
ID : [A-Za-z_] [A-Za-z0-9_$]* ;
RESOURCES : '{-#' .*? '#-}' ;
COMMENT : '//' ~[\r\n]* -> skip ;
SPACE : [ \t\r\n]+ -> skip ;

fragment RESULT : '%' NAME (':' [0-9]+)? ;
fragment WORD : [A-Za-z_] [A-Za-z0-9_$.]* ;
fragment NAME : [A-Za-z0-9_$.-]+ ;
fragment ANGLE : '<' (~[<>"] | '->' | STRING | ANGLE)* '>' ;
