//! The parts that a line can be.

/// What a line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Nothing,
    /// A declaration: `node`, `fn`, `type`, `train`, `import`, `const`.
    Declaration(String),
    /// `x: 1 2 3`.
    Cells {
        input: String,
        cells: String,
    },
    /// `y = e`, or `(a, b) = e`.
    Equation {
        names: Vec<String>,
        text: String,
    },
    Expression(String),
    Step(usize),
    List,
    Check,
    Restart,
    Forget(String),
    Clear,
    Help,
    Quit,
}

/// The words that start a declaration.
const DECLARATIONS: [&str; 7] = ["node", "fn", "type", "train", "import", "const", "let"];

/// The commands, for completion.
pub const COMMANDS: [&str; 8] =
    [":step", ":list", ":check", ":restart", ":forget", ":clear", ":help", ":quit"];

/// Whether a line begins a declaration that goes on until an empty line.
pub fn begins_block(text: &str) -> bool {
    is_declaration(text) && !text.trim_end().ends_with(';')
}

fn is_declaration(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    // `type` and its like may also be names of streams.
    let second = words.next().unwrap_or_default();
    DECLARATIONS.contains(&first) && !second.is_empty() && !second.starts_with(['=', ':', '+', '*', '/'])
}

/// Reads a line, or says why it is wrong.
pub fn parse(text: &str) -> Result<Line, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(Line::Nothing);
    }
    if let Some(command) = text.strip_prefix(':') {
        return self::command(command);
    }
    if is_declaration(text) {
        return Ok(Line::Declaration(text.to_string()));
    }
    if let Some((input, cells)) = text.split_once(':')
        && is_name(input.trim())
    {
        let cells = cells.trim().trim_end_matches(';').trim();
        return Ok(Line::Cells { input: input.trim().to_string(), cells: cells.to_string() });
    }
    if let Some((left, _)) = equation(text) {
        let left = left.trim().trim_start_matches('(').trim_end_matches(')');
        let names: Vec<String> = left.split(',').map(|name| name.trim().to_string()).collect();
        if names.iter().all(|name| is_name(name)) {
            let text = text.trim_end_matches(';').to_string() + ";";
            return Ok(Line::Equation { names, text });
        }
    }
    Ok(Line::Expression(text.trim_end_matches(';').to_string()))
}

/// The sides of an equation; `==` and its like are operators.
fn equation(text: &str) -> Option<(&str, &str)> {
    let (left, right) = text.split_once('=')?;
    let is_operator = right.starts_with('=') || left.ends_with(['=', '!', '<', '>']);
    (!is_operator).then_some((left, right))
}

fn is_name(text: &str) -> bool {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(is_start) && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '\'')
}

fn command(text: &str) -> Result<Line, String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    Ok(match word {
        "s" | "step" if rest.is_empty() => Line::Step(1),
        "s" | "step" => match rest.parse() {
            Ok(n) if (1..=100_000).contains(&n) => Line::Step(n),
            _ => return Err("`:step N` runs N cycles, at most 100000".to_string()),
        },
        "l" | "list" => Line::List,
        "c" | "check" => Line::Check,
        "restart" => Line::Restart,
        "forget" if is_name(rest) => Line::Forget(rest.to_string()),
        "forget" => return Err("`:forget NAME` removes an equation or an input".to_string()),
        "clear" => Line::Clear,
        "h" | "help" | "?" => Line::Help,
        "q" | "quit" | "exit" => Line::Quit,
        _ => return Err(format!("there is no command `:{word}`; `:help` lists them")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let text = |text: &str| text.to_string();
        let equation =
            |name: &str, whole: &str| Line::Equation { names: vec![text(name)], text: text(whole) };
        for (line, expected) in [
            ("", Line::Nothing),
            ("x: 1 . 2;", Line::Cells { input: text("x"), cells: text("1 . 2") }),
            ("y = x + 1", equation("y", "y = x + 1;")),
            ("type = 2", equation("type", "type = 2;")),
            ("1 == 2", Line::Expression(text("1 == 2"))),
            ("x >= 2", Line::Expression(text("x >= 2"))),
            ("fn f(x) = x;", Line::Declaration(text("fn f(x) = x;"))),
            (":step 3", Line::Step(3)),
            (":q", Line::Quit),
        ] {
            assert_eq!(parse(line), Ok(expected), "{line}");
        }
        let pair = Line::Equation { names: vec![text("a"), text("b")], text: text("(a, b) = f(x);") };
        assert_eq!(parse("(a, b) = f(x)"), Ok(pair));
        assert!(parse(":nothing").is_err() && parse(":step 0").is_err());
        assert!(begins_block("node f(x) -> (y)") && !begins_block("fn f(x) = x;") && !begins_block("x = 1"));
    }
}
