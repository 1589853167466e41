//! Percentages in flags, exact to a hundredth of a percent.

use crate::error::CliError;

/// Hundredths of a percent: `2`, `2%`, `0.25` and `12.5 %` are understood.
pub(super) fn hundredths(text: &str, flag: &str) -> Result<u32, CliError> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let parsed = (digits(whole) && digits(fraction) && fraction.len() <= 2)
        .then(|| format!("{whole}{fraction:0<2}").parse::<u32>().ok())
        .flatten();
    parsed.ok_or_else(|| {
        let hint = "give a percentage such as 2, 0.5 or 2%, with at most two decimals";
        CliError::user(format!("{text:?} is no percentage"), flag, hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_read_to_the_hundredth() {
        let cases = [
            ("2", Some(200)),
            ("2%", Some(200)),
            ("0.5", Some(50)),
            ("12.25 %", Some(1_225)),
            ("", None),
            ("-1", None),
            ("1.234", None),
            ("two", None),
            ("99999999999", None),
        ];
        for (text, expected) in cases {
            let found = hundredths(text, "--faster").ok();
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
