//! Translates the common subset of Rust to C.
//!
//! The files in `shared` use a subset of Rust that is nearly C: functions whose bodies are `let` steps and a
//! result, calls, arithmetic, comparisons, fields, constants. The translation changes
//!
//! ```text
//! pub const HALF: Num = 0.5;                #define EDDY_HALF (0.5)
//! pub fn f(x: Num) -> Pair {                EDDY_INLINE EddyPair eddy_f(double x) {
//!     let y = g(HALF * x);                      const double y = eddy_g(EDDY_HALF * x);
//!     pair(y, 0.0)                              return eddy_pair(y, 0.0);
//! }                                         }
//! ```
//!
//! In single precision all names and numerals get an `f`. `use`, `pub` and attributes are dropped; comments
//! stay. Nothing checks that a file is in the subset, except that both compilers must accept it and the
//! results must agree.

use super::Width;

/// Translates a file in the common subset.
pub(super) fn translate(text: &str, width: Width) -> String {
    let mut rest = renamed(text, width);
    rest.reverse();
    let mut translation = Translation { width, rest, prototypes: String::new(), text: String::new() };
    translation.items();
    let Translation { text, prototypes, .. } = translation;
    // The prototypes go after the comment at the top of the file.
    let (opening, text) = text.split_once("\n\n").expect("a file opens with a comment");
    format!("{opening}\n\n{prototypes}\n{}\n", text.trim())
}

/// Translates C that uses `Num`, `Bits` and unprefixed names.
pub(super) fn instantiate(text: &str, width: Width) -> String {
    renamed(text, width).into_iter().map(|token| token.text).collect()
}

struct Token {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Space,
    Comment,
    /// A name or a keyword.
    Word,
    Number,
    Mark,
}

impl Token {
    fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// The tokens with C names and C numerals.
fn renamed(text: &str, width: Width) -> Vec<Token> {
    let mut tokens = tokens(text);
    for at in 0..tokens.len() {
        let is_called = tokens.get(at + 1).is_some_and(|next| next.is("("));
        let Token { kind, text } = &mut tokens[at];
        match kind {
            Kind::Word => *text = name(text, is_called, width),
            Kind::Number => *text = numeral(text, width),
            Kind::Comment => *text = text.replacen("//!", "//", 1).replacen("///", "//", 1),
            Kind::Space | Kind::Mark => {}
        }
    }
    tokens
}

fn name(word: &str, is_called: bool, width: Width) -> String {
    let (num, bits, small, capital) = match width {
        Width::Double => ("double", "uint64_t", "", ""),
        Width::Single => ("float", "uint32_t", "f", "F"),
    };
    let is_constant = word.len() > 1 && !word.contains(|c: char| c.is_ascii_lowercase());
    match word {
        "Num" => num.to_owned(),
        "Bits" => bits.to_owned(),
        "bool" => "int".to_owned(),
        "Pair" | "Angle" => format!("Eddy{word}{capital}"),
        _ if word.to_ascii_lowercase().starts_with("eddy") => word.to_owned(),
        _ if is_constant => format!("EDDY_{word}{capital}"),
        _ if is_called => format!("eddy_{word}{small}"),
        _ => word.to_owned(),
    }
}

fn numeral(digits: &str, width: Width) -> String {
    let is_integer = digits.starts_with("0x") || !digits.contains(['.', 'e']);
    let suffix = match width {
        _ if is_integer => "u",
        Width::Double => "",
        Width::Single => "f",
    };
    digits.replace('_', "") + suffix
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let until = |stop: &dyn Fn(char) -> bool| rest.find(stop).unwrap_or(rest.len());
        let (kind, length) = if first.is_whitespace() {
            (Kind::Space, until(&|c| !c.is_whitespace()))
        } else if rest.starts_with("//") {
            (Kind::Comment, until(&|c| c == '\n'))
        } else if first.is_ascii_digit() {
            (Kind::Number, numeral_length(rest))
        } else if is_word(first) {
            (Kind::Word, until(&|c| !is_word(c)))
        } else {
            (Kind::Mark, if rest.starts_with("->") { 2 } else { first.len_utf8() })
        };
        let (token, after) = rest.split_at(length);
        tokens.push(Token { kind, text: token.to_owned() });
        rest = after;
    }
    tokens
}

/// The sign of an exponent is part of a numeral; in a hexadecimal numeral, `e` is a digit.
fn numeral_length(text: &str) -> usize {
    let is_hexadecimal = text.starts_with("0x");
    let is_exponent = |at: usize| !is_hexadecimal && text[..at].ends_with('e');
    let belongs = |at: usize, c: char| {
        c.is_ascii_alphanumeric() || c == '_' || c == '.' || (c == '-' && is_exponent(at))
    };
    text.char_indices().find(|&(at, c)| !belongs(at, c)).map_or(text.len(), |(at, _)| at)
}

struct Translation {
    width: Width,
    /// In reverse order.
    rest: Vec<Token>,
    /// C requires declarations before calls, but the files define callers before callees.
    prototypes: String,
    text: String,
}

impl Translation {
    /// Translates the text outside of functions.
    fn items(&mut self) {
        let mut linkage = "EDDY_INLINE";
        while let Some(token) = self.rest.pop() {
            match token.text.as_str() {
                "use" => _ = self.take_until(";"),
                "pub" => self.skip_space(),
                "#" => {
                    let is_noinline = self.take_until("]").iter().any(|word| word.is("never"));
                    linkage = if is_noinline { "EDDY_NOINLINE" } else { "EDDY_INLINE" };
                    self.skip_space();
                }
                "const" => self.constant(),
                "fn" => self.function(linkage),
                other => self.text.push_str(other),
            }
        }
    }

    /// `NAME: Num = 0.5;` or `NAME: [Bits; 2] = [1, 2];`
    fn constant(&mut self) {
        let name = written(&self.take_until(":"));
        let ty = written(&self.take_until("="));
        let value = written(&self.take_until(";"));
        let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
        let text = match (list, ty.trim_matches(['[', ']']).split_once("; ")) {
            (Some(list), Some((ty, size))) => {
                let list = list.trim().trim_end_matches(',');
                format!("static const {ty} {name}[{size}] = {{ {list} }};")
            }
            _ => format!("#define {name} ({value})"),
        };
        self.text.push_str(&text);
    }

    /// `name(x: Num) -> Num { … }`
    fn function(&mut self, linkage: &str) {
        let name = written(&self.take_until("("));
        let parameters = written(&self.take_until(")"));
        _ = self.take_until("->");
        let result = written(&self.take_until("{"));
        let parameters: Vec<String> = parameters
            .split(", ")
            .filter_map(|parameter| parameter.split_once(": "))
            .map(|(name, ty)| format!("{ty} {name}"))
            .collect();
        let head = format!("{linkage} {result} {name}({})", parameters.join(", "));
        self.prototypes.extend([&head, ";\n"]);
        self.text.extend([&head, " {"]);
        self.body();
    }

    /// Translates steps and a result, up to the closing brace.
    fn body(&mut self) {
        while let Some(token) = self.rest.pop() {
            match (token.kind, token.text.as_str()) {
                (Kind::Space | Kind::Comment, text) => self.text.push_str(text),
                (_, "let") => self.step(),
                (_, "if") => {
                    let condition = written(&self.take_until("{"));
                    let yes = written(&self.take_until("}"));
                    _ = self.take_until("{");
                    let no = written(&self.take_until("}"));
                    self.text.extend(["return ", &condition, " ? ", &yes, " : ", &no, ";"]);
                }
                (_, "}") => {
                    self.text.push('}');
                    return;
                }
                _ => {
                    self.rest.push(token);
                    let result = written(&self.take_until("}"));
                    self.text.extend(["return ", &result, ";\n}"]);
                    return;
                }
            }
        }
    }

    /// `x: Pair = …;`; the type `Num` is implied if there is none.
    fn step(&mut self) {
        let variable = written(&self.take_until("="));
        let value = written(&self.take_until(";"));
        let (name, ty) = match variable.split_once(": ") {
            Some((name, ty)) => (name, ty.to_owned()),
            None => (variable.as_str(), name("Num", false, self.width)),
        };
        self.text.extend(["const ", &ty, " ", name, " = ", &value, ";"]);
    }

    /// Takes the tokens before the next `mark`, and drops the mark.
    fn take_until(&mut self, mark: &str) -> Vec<Token> {
        let mut taken = Vec::new();
        while let Some(token) = self.rest.pop() {
            if token.is(mark) {
                break;
            }
            taken.push(token);
        }
        taken
    }

    fn skip_space(&mut self) {
        while self.rest.last().is_some_and(|token| token.kind == Kind::Space) {
            self.rest.pop();
        }
    }
}

/// Joins tokens to one line.
fn written(tokens: &[Token]) -> String {
    let text: String = tokens.iter().map(|token| token.text.as_str()).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Translates some lines, after the comment at the top of a file.
    #[track_caller]
    fn check(text: &str, width: Width, expected: &str) {
        let translated = translate(&format!("//! Opening.\n\n{text}"), width);
        assert_eq!(translated, format!("// Opening.\n\n{expected}\n"));
    }

    #[test]
    fn constants_become_macros_and_lists_become_arrays() {
        check("pub const HALF: Num = 0.5;", Width::Double, "\n#define EDDY_HALF (0.5)");
        check("const HALF: Num = -0.5e-3;", Width::Single, "\n#define EDDY_HALFF (-0.5e-3f)");
        check("const SIGN: Bits = 0x8000_000e;", Width::Single, "\n#define EDDY_SIGNF (0x8000000eu)");
        check(
            "const LIST: [Bits; 2] = [\n    1, 2,\n];",
            Width::Double,
            "\nstatic const uint64_t EDDY_LIST[2u] = { 1u, 2u };",
        );
    }

    #[test]
    fn functions_are_steps_and_a_result() {
        check(
            "use super::Num;\n\n/// Doc.\n#[inline(always)]\npub fn f(x: Num, k: Bits) -> Pair {\n    \
             // Why.\n    let y = g(x, HALF) + 1.0;\n    let s: Pair = h(k << 2);\n    pair(s.hi, y)\n}\n",
            Width::Single,
            "EDDY_INLINE EddyPairF eddy_ff(float x, uint32_t k);\n\n// Doc.\n\
             EDDY_INLINE EddyPairF eddy_ff(float x, uint32_t k) {\n    \
             // Why.\n    const float y = eddy_gf(x, EDDY_HALFF) + 1.0f;\n    \
             const EddyPairF s = eddy_hf(k << 2u);\n    return eddy_pairf(s.hi, y);\n}",
        );
    }

    #[test]
    fn a_result_may_be_conditional() {
        check(
            "#[inline(never)]\nfn f(x: Num) -> bool {\n    if x < 0.0 { g(x) } else { !h(x) }\n}",
            Width::Double,
            "EDDY_NOINLINE int eddy_f(double x);\n\nEDDY_NOINLINE int eddy_f(double x) {\n    \
             return x < 0.0 ? eddy_g(x) : !eddy_h(x);\n}",
        );
    }

    #[test]
    fn c_written_by_hand_only_gets_names() {
        let text = "EDDY_INLINE Bits f(Num x) {\n    return (Bits)eddy_g(LIST[x.hi]);\n}\n";
        let expected =
            "EDDY_INLINE uint32_t eddy_ff(float x) {\n    return (uint32_t)eddy_g(EDDY_LISTF[x.hi]);\n}\n";
        assert_eq!(instantiate(text, Width::Single), expected);
    }
}
