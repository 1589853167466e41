//! Reads the text form of a graph: text → [`Graph`], or the line and column of the first mistake.
//!
//! ```text
//! line  = ("input" | "parameter") NAME ":" TYPE "[" INT {"," INT} "]" "=" FILL
//!       | NAME "=" CALL ["as" NAME] ["in" NAME]
//!       | "output" NAME
//! CALL  = "gemm" "(" NAME "," NAME ["," NAME] ")"             left, right, bias
//!       | ("gelu" "(" NAME | "add" "(" NAME "," NAME) ")"
//!       | "layer_norm" "(" NAME "," NAME "," NAME ")"         x, gain, bias
//!       | ("split_heads" | "merge_heads") "(" NAME "," INT ")"  x, heads
//!       | "attention" "(" NAME "," NAME "," NAME ["," NUMBER] ")"  q, k, v, scale (1/√d)
//! TYPE  = "f16" | "f32" | "f143"
//! FILL  = "constant" "(" NUMBER ")"          every element
//!       | "gaussian" "(" INT "," NUMBER ")"  seed and standard deviation
//!       | "one_hot" "(" INT ")"              row r of batch b is hot at (INT·b + r) mod columns
//!       | "cycle" "(" INT ")"                −1, −½, 0, ½, 1 at (INT·row + column) mod 5
//! NAME  = letter or "_", then letters, digits, "_", "." and "-"
//! ```
//! `#` starts a comment. A name is defined before it is used.

use runtime::package::{DType, Fill};

use super::{Graph, GraphError, OperationKind, Scale, ValueId, ValueKind};

/// Parses a graph and checks that it computes and returns something.
///
/// # Errors
/// [`GraphError::Parse`] with line and column for whatever is wrong in a line,
/// [`GraphError::Empty`] for a graph without operations or outputs.
pub fn parse(text: &str) -> Result<Graph, GraphError> {
    let mut graph = Graph::default();
    for (index, line) in text.lines().enumerate() {
        let mut cursor = Cursor {
            line: index + 1,
            text: line,
            at: 0,
        };
        if cursor.peek().is_some() {
            statement(&mut cursor, &mut graph)?;
            cursor.end()?;
        }
    }
    graph.validate()?;
    Ok(graph)
}

fn statement(cursor: &mut Cursor<'_>, graph: &mut Graph) -> Result<(), GraphError> {
    let start = cursor.at;
    let word = cursor.name("input, parameter, output or a result name")?;
    match word {
        "input" | "parameter" => host_value(cursor, graph, word == "input"),
        "output" => {
            let value = cursor.defined(graph)?;
            graph
                .add_output(value)
                .map_err(|error| cursor.within(start, &error))
        }
        result => operation(cursor, graph, result, start),
    }
}

fn host_value(
    cursor: &mut Cursor<'_>,
    graph: &mut Graph,
    is_input: bool,
) -> Result<(), GraphError> {
    cursor.skip_space();
    let start = cursor.at;
    let name = cursor.name("a value name")?;
    cursor.expect(':')?;
    let dtype = cursor.choice(&[
        ("f16", DType::F16),
        ("f32", DType::F32),
        ("f143", DType::F143),
    ])?;
    cursor.expect('[')?;
    let mut shape = vec![cursor.integer()?];
    while cursor.accept(',') {
        shape.push(cursor.integer()?);
    }
    cursor.expect(']')?;
    cursor.expect('=')?;
    let fill = fill(cursor)?;
    let kind = if is_input {
        ValueKind::Input(fill)
    } else {
        ValueKind::Parameter(fill)
    };
    graph
        .add_host(name, dtype, &shape, kind)
        .map_err(|error| cursor.within(start, &error))?;
    Ok(())
}

fn fill(cursor: &mut Cursor<'_>) -> Result<Fill, GraphError> {
    let kinds = [
        ("constant", 0),
        ("gaussian", 1),
        ("one_hot", 2),
        ("cycle", 3),
    ];
    let kind = cursor.choice(&kinds)?;
    cursor.expect('(')?;
    let fill = match kind {
        0 => Fill::Constant(cursor.number()?),
        1 => {
            let seed = cursor.integer()?;
            cursor.expect(',')?;
            Fill::Gaussian {
                seed,
                sigma: cursor.number()?,
            }
        }
        2 => Fill::OneHot {
            batch_step: cursor.integer()?,
        },
        _ => Fill::Cycle {
            row_step: cursor.integer()?,
        },
    };
    cursor.expect(')')?;
    Ok(fill)
}

fn operation(
    cursor: &mut Cursor<'_>,
    graph: &mut Graph,
    result: &str,
    start: usize,
) -> Result<(), GraphError> {
    cursor.expect('=')?;
    let mut kind = cursor.choice(&[
        ("gemm", OperationKind::Gemm),
        ("gelu", OperationKind::Gelu),
        ("add", OperationKind::Add),
        ("layer_norm", OperationKind::LayerNorm),
        ("split_heads", OperationKind::SplitHeads { heads: 0 }),
        ("merge_heads", OperationKind::MergeHeads { heads: 0 }),
        ("attention", OperationKind::Attention { scale: None }),
    ])?;
    cursor.expect('(')?;
    let mut inputs = vec![cursor.defined(graph)?];
    while cursor.accept(',') {
        if argument(cursor, &mut kind, inputs.len())? {
            break;
        }
        inputs.push(cursor.defined(graph)?);
    }
    cursor.expect(')')?;
    let value = graph
        .add_operation(result, kind, &inputs)
        .map_err(|error| cursor.within(start, &error))?;
    let (mut name, mut region) = (result, "");
    while cursor.peek().is_some() {
        match cursor.choice(&[("as", true), ("in", false)])? {
            true => name = cursor.name("an operation name")?,
            false => region = cursor.name("a region name")?,
        }
    }
    graph.label(value, name, region);
    Ok(())
}

/// Reads a number that belongs to the operation, if one comes next.
fn argument(
    cursor: &mut Cursor<'_>,
    kind: &mut OperationKind,
    operands: usize,
) -> Result<bool, GraphError> {
    match kind {
        OperationKind::SplitHeads { heads } | OperationKind::MergeHeads { heads } => {
            *heads = cursor.integer()?;
            Ok(true)
        }
        OperationKind::Attention { scale } if operands == 3 => {
            cursor.skip_space();
            let start = cursor.at;
            *scale = Scale::new(cursor.number()?);
            if scale.is_none() {
                return Err(cursor.error(start, "a scale must be above zero".to_owned()));
            }
            Ok(true)
        }
        OperationKind::Attention { .. }
        | OperationKind::Gemm
        | OperationKind::Gelu
        | OperationKind::Add
        | OperationKind::LayerNorm => Ok(false),
    }
}

/// A position in one line. Every read skips blanks first.
struct Cursor<'a> {
    line: usize,
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    /// The next character that is no blank and no comment.
    fn peek(&mut self) -> Option<char> {
        self.skip_space();
        self.text[self.at..]
            .chars()
            .next()
            .filter(|&next| next != '#')
    }

    fn error(&self, at: usize, problem: String) -> GraphError {
        let column = self.text[..at].chars().count() + 1;
        GraphError::Parse {
            line: self.line,
            column,
            problem,
        }
    }

    /// An error of the graph builder, placed at the word that caused it.
    fn within(&self, at: usize, error: &GraphError) -> GraphError {
        let at = at + self.text[at..].len() - self.text[at..].trim_start().len();
        self.error(at, error.to_string())
    }

    fn expected<T>(&mut self, what: &str) -> Result<T, GraphError> {
        let found = match self.peek() {
            Some(next) => format!("`{next}`"),
            None => "the end of the line".to_owned(),
        };
        Err(self.error(self.at, format!("expected {what}, found {found}")))
    }

    fn accept(&mut self, symbol: char) -> bool {
        let found = self.peek() == Some(symbol);
        if found {
            self.at += symbol.len_utf8();
        }
        found
    }

    fn expect(&mut self, symbol: char) -> Result<(), GraphError> {
        if self.accept(symbol) {
            Ok(())
        } else {
            self.expected(&format!("`{symbol}`"))
        }
    }

    fn end(&mut self) -> Result<(), GraphError> {
        if self.peek().is_none() {
            Ok(())
        } else {
            self.expected("the end of the line")
        }
    }

    /// The longest run of characters that satisfy `part`.
    fn run(&mut self, part: impl Fn(char) -> bool) -> &'a str {
        self.skip_space();
        let rest = &self.text[self.at..];
        let length = rest.find(|next| !part(next)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn name(&mut self, what: &str) -> Result<&'a str, GraphError> {
        match self.peek() {
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                Ok(self.run(|next| next.is_ascii_alphanumeric() || "_.-".contains(next)))
            }
            _ => self.expected(what),
        }
    }

    fn choice<T: Copy>(&mut self, choices: &[(&str, T)]) -> Result<T, GraphError> {
        self.skip_space();
        let start = self.at;
        let word = self.run(|next| next.is_ascii_alphanumeric() || next == '_');
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == word) {
            return Ok(*choice);
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let names = names.join(" or ");
        if word.is_empty() {
            return self.expected(&names);
        }
        Err(self.error(start, format!("expected {names}, found `{word}`")))
    }

    fn integer(&mut self) -> Result<u64, GraphError> {
        self.skip_space();
        let start = self.at;
        let digits = self.run(|next| next.is_ascii_digit());
        if digits.is_empty() {
            return self.expected("a whole number");
        }
        digits
            .parse()
            .map_err(|error| self.error(start, format!("whole number: {error}")))
    }

    fn number(&mut self) -> Result<f32, GraphError> {
        self.skip_space();
        let start = self.at;
        let digits = self.run(|next| next.is_ascii_alphanumeric() || "+-._".contains(next));
        match digits.parse::<f32>() {
            _ if digits.is_empty() => self.expected("a finite number"),
            Ok(number) if number.is_finite() => Ok(number),
            _ => Err(self.error(start, format!("expected a finite number, found `{digits}`"))),
        }
    }

    fn defined(&mut self, graph: &Graph) -> Result<ValueId, GraphError> {
        self.skip_space();
        let start = self.at;
        let name = self.name("a value name")?;
        graph
            .find(name)
            .ok_or_else(|| self.error(start, format!("value `{name}` is not defined")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECTIONS: &str = "\
input x: f16[2, 729, 1152] = gaussian(7, 1)
parameter w: f16[1152, 1152] = gaussian(8, 0.029)
q = gemm(x, w) as projection.q in attention
output q
";

    #[test]
    fn the_text_form_survives_a_round_trip() {
        let graph = parse(PROJECTIONS).unwrap();
        assert_eq!(graph.to_string(), PROJECTIONS);
        assert_eq!(graph.operations()[0].name, "projection.q");
        assert_eq!(graph.value(graph.outputs()[0]).shape, [2, 729, 1152]);
        assert_eq!(graph.flops(), 2 * 2 * 729 * 1152 * 1152);
    }

    #[test]
    fn comments_and_blank_lines_are_skipped() {
        let text = PROJECTIONS.replace('\n', "  # note\n\n");
        assert_eq!(parse(&text).unwrap().to_string(), PROJECTIONS);
    }

    #[test]
    fn mistakes_are_placed_at_line_and_column() {
        let cases = [
            (
                "input x f16[1]",
                "line 1, column 9: expected `:`, found `f`",
            ),
            (
                "input x: f17[1]",
                "line 1, column 10: expected f16 or f32 or f143, found `f17`",
            ),
            (
                "\ninput x: f16[]",
                "line 2, column 14: expected a whole number, found `]`",
            ),
            (
                "input x: f16[0] = constant(1)",
                "line 1, column 7: value x: shape [0] needs",
            ),
            (
                "input x: f16[4] = gaussian(1, nan)",
                "line 1, column 31: expected a finite number, found `nan`",
            ),
            (
                "input x: f16[4] = constant()",
                "line 1, column 28: expected a finite number, found `)`",
            ),
            (
                "input x: f16[4] = (1)",
                "line 1, column 19: expected constant or gaussian or one_hot or cycle, found `(`",
            ),
            (
                "q = conv(x, y)",
                "line 1, column 5: expected gemm or gelu or add or layer_norm or split_heads or \
                 merge_heads or attention, found `conv`",
            ),
            (
                "input x: f16[1, 4, 8] = constant(1)\nq = attention(x, x, x, nan)",
                "line 2, column 24: expected a finite number, found `nan`",
            ),
            (
                "input x: f16[1, 4, 8] = constant(1)\nq = attention(x, x, x, -1)",
                "line 2, column 24: a scale must be above zero",
            ),
            (
                "input x: f16[1, 4, 8] = constant(1)\nq = split_heads(x, 3)",
                "line 2, column 1: operation q: [1, 4, 8] needs three axes",
            ),
            (
                "q = gemm(x, y)",
                "line 1, column 10: value `x` is not defined",
            ),
            ("output q", "line 1, column 8: value `q` is not defined"),
            (
                "input x: f16[4] = constant(1) 3",
                "line 1, column 31: expected the end of the line",
            ),
            (
                "input é: f16[4]",
                "line 1, column 7: expected a value name, found `é`",
            ),
            ("# nothing", "the graph has no operation; add one"),
        ];
        for (text, message) in cases {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?} gave {error:?}");
        }
    }

    #[test]
    fn operands_that_do_not_fit_are_named_with_their_shapes() {
        let head = "input x: f16[3, 4] = constant(1)\ninput y: f16[2, 5, 6] = constant(1)\n";
        let error = parse(&format!("{head}z = gemm(x, y)"))
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("line 3, column 1: operation z: left [3, 4]"),
            "{error}"
        );
        let head = "input x: f16[3, 4] = constant(1)\ninput y: f16[5, 6] = constant(1)\n";
        let error = parse(&format!("{head}  z = gemm(x, y)"))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("column 3: operation z: contraction of left [3, 4] (4)"),
            "{error}"
        );
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "[ a-z0-9_.=:,()\\[\\]#\n\u{e9}-]{0,120}") {
            let _ = parse(&text);
        }
    }
}
