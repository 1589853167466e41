//! Exchange problems as files: what `ipu-stack schedule-bench` reads, runs and reports.
