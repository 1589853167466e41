//! Which messages must wait for which: overlapping bytes keep program order.
