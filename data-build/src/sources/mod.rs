//! One reader a source. A reader gets every file below its source's folder, recognises the official formats by what
//! is in them, and hands over records; a file that it does not know is said to be skipped, never guessed at.
