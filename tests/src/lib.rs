//! Tests across parts, in `tests/`: this library is empty.
