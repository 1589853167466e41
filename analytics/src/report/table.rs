//! Text tables: rows of cells in, aligned lines out.

use crate::text;

/// Where the text of a column sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Columns of a terminal that a table fits.
const WIDTH: usize = 80;
/// Least width that names are shortened to.
const NAME_MIN: usize = 12;

/// Lines of `rows` under `header`, columns two spaces apart, without spaces at line ends.
///
/// Where they are wider than a terminal, the texts of the widest left-aligned columns lose their
/// middle. Texts that differ still do, so names that differ little may make a wider table.
pub(crate) fn table(header: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let column = |at: usize| {
        let cells = rows
            .iter()
            .map(|row| row.get(at).cloned().unwrap_or_default());
        std::iter::once(header[at].0.to_owned())
            .chain(cells)
            .collect()
    };
    let mut columns: Vec<Vec<String>> = (0..header.len()).map(column).collect();
    let room = fitting(header, &columns);
    for (cells, room) in columns.iter_mut().zip(room) {
        if width(cells) > room {
            let names: Vec<&str> = cells.iter().map(String::as_str).collect();
            *cells = text::shortened(&names, room);
        }
    }
    let widths: Vec<usize> = columns.iter().map(|it| width(it)).collect();
    let mut out = String::new();
    for row in 0..=rows.len() {
        let cells: Vec<String> = columns
            .iter()
            .zip(header.iter().zip(&widths))
            .map(|(cells, ((_, align), width))| pad(&cells[row], *width, *align))
            .collect();
        out.push_str(cells.join("  ").trim_end());
        out.push('\n');
    }
    out
}

/// Characters of the longest cell.
fn width(cells: &[String]) -> usize {
    let widths = cells.iter().map(|it| it.chars().count());
    widths.max().unwrap_or(0)
}

/// The width of each column in a table that fits, as far as left-aligned ones can give way.
fn fitting(header: &[(&str, Align)], columns: &[Vec<String>]) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|it| width(it)).collect();
    let gaps = 2 * header.len().saturating_sub(1);
    let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(WIDTH);
    for _ in 0..over {
        let can_give = |at: &usize| header[*at].1 == Align::Left && widths[*at] > NAME_MIN;
        let widest = (0..widths.len())
            .filter(can_give)
            .max_by_key(|&at| widths[at]);
        match widest {
            Some(at) => widths[at] -= 1,
            None => break,
        }
    }
    widths
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
    fn columns_align() {
        let header = [("name", Align::Left), ("n", Align::Right)];
        let rows = [
            vec!["a".to_owned(), "10".to_owned()],
            vec!["abcdefghij".to_owned(), "2".to_owned()],
        ];
        assert_eq!(
            table(&header, &rows),
            "name         n\na           10\nabcdefghij   2\n"
        );
    }

    #[test]
    fn long_names_lose_their_middle_and_stay_apart() {
        let header = [("name", Align::Left), ("n", Align::Right)];
        let of = |names: [&str; 2]| {
            let row = |name: &str| vec![name.to_owned(), "1".to_owned()];
            table(&header, &names.map(row))
        };
        let long = "k".repeat(100);
        let widest = |text: &str| text.lines().map(|it| it.chars().count()).max();
        let text = of([&format!("{long}a"), &format!("{long}b")]);
        assert_eq!(widest(&text), Some(80), "{text}");
        assert!(
            text.contains("kka  1\n") && text.contains("kkb  1\n"),
            "{text}"
        );
        // What differs in the middle alone is not left out, even beyond the terminal.
        let lines = of([&format!("{long}a{long}"), &format!("{long}b{long}")]);
        let lines: Vec<&str> = lines.lines().skip(1).collect();
        assert_ne!(lines[0], lines[1]);
    }
}
