//! The engine as a whole: files, answers and exports, against plain references and worked examples.

#[cfg(test)]
mod answers;
#[cfg(test)]
mod barriers;
#[cfg(all(test, feature = "chart"))]
mod chart;
#[cfg(test)]
mod columnar;
#[cfg(test)]
mod critical;
#[cfg(test)]
mod diff;
#[cfg(all(test, feature = "export"))]
mod export;
#[cfg(test)]
mod file_figures;
#[cfg(test)]
mod inspect;
#[cfg(test)]
mod part_reports;
#[cfg(test)]
mod partly_read;
#[cfg(test)]
mod phases;
#[cfg(test)]
mod query_reference;
#[cfg(all(test, feature = "fixtures"))]
mod row;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod slice;
#[cfg(test)]
mod stream_check;
#[cfg(test)]
mod support;
#[cfg(test)]
mod timeline_choice;
#[cfg(test)]
mod timeline_items;
#[cfg(test)]
mod timeline_reference;
#[cfg(test)]
mod traffic;
#[cfg(test)]
mod worked_examples;
