//! Maps a model block onto the tiles: plan, place, schedule, encode, lower.
