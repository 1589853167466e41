//! Text tables: rows of cells in, aligned lines out.

/// Where the text of a column sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Lines of `rows` under `header`, columns two spaces apart, without spaces at line ends.
///
/// Cells longer than `widest` characters are cut with an ellipsis, in the middle, so that names
/// that differ at either end stay apart.
pub(crate) fn table(header: &[(&str, Align)], rows: &[Vec<String>], widest: usize) -> String {
    let header_row: Vec<String> = header.iter().map(|(name, _)| (*name).to_owned()).collect();
    let lines: Vec<Vec<String>> = std::iter::once(&header_row)
        .chain(rows)
        .map(|row| row.iter().map(|cell| shorten(cell, widest)).collect())
        .collect();
    let width_of = |column: usize| {
        lines
            .iter()
            .filter_map(|row| row.get(column))
            .map(|it| it.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..header.len())
        .map(|it| width_of(it).unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in &lines {
        let cells: Vec<String> = row
            .iter()
            .zip(header.iter().zip(&widths))
            .map(|(cell, ((_, align), width))| pad(cell, *width, *align))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The same as a Markdown table. Names are whole; bars in them are escaped.
pub(crate) fn markdown(header: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        let cells: Vec<String> = cells.collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&mut header.iter().map(|(name, _)| (*name).to_owned()));
    text.push_str(&line(&mut header.iter().map(|(_, align)| match align {
        Align::Left => "---".to_owned(),
        Align::Right => "---:".to_owned(),
    })));
    for row in rows {
        let cells = row
            .iter()
            .map(|cell| cell.replace('|', "\\|").replace('\n', " "));
        text.push_str(&line(&mut { cells }));
    }
    text
}

fn pad(cell: &str, width: usize, align: Align) -> String {
    let spaces = " ".repeat(width.saturating_sub(cell.chars().count()));
    match align {
        Align::Left => format!("{cell}{spaces}"),
        Align::Right => format!("{spaces}{cell}"),
    }
}

fn shorten(cell: &str, widest: usize) -> String {
    let characters: Vec<char> = cell.chars().collect();
    if characters.len() <= widest {
        return cell.to_owned();
    }
    let kept = widest.saturating_sub(1);
    let tail = kept / 3;
    let head: String = characters[..kept - tail].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{head}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_keeps_names_whole_and_escapes_bars() {
        let header = [("name", Align::Left), ("n", Align::Right)];
        let rows = [vec!["a|b".to_owned(), "10".to_owned()]];
        assert_eq!(
            markdown(&header, &rows),
            "| name | n |\n| --- | ---: |\n| a\\|b | 10 |\n"
        );
    }

    #[test]
    fn columns_align_and_long_names_lose_their_middle() {
        let header = [("name", Align::Left), ("n", Align::Right)];
        let rows = [
            vec!["a".to_owned(), "10".to_owned()],
            vec!["abcdefghij".to_owned(), "2".to_owned()],
        ];
        assert_eq!(
            table(&header, &rows, 6),
            "name     n\na       10\nabcd…j   2\n"
        );
    }
}
