//! Tests of the check: rows that break one rule each are refused.
