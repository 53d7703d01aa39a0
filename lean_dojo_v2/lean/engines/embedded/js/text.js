'use strict';

const crypto = require('node:crypto');

/**
 * A source text and its positions. Lean reads line endings as LF, so its byte offsets in a CRLF file are not those of
 * the file; what we report are the file's own bytes, and lines and columns as editors count them (in code points).
 */
class SourceText {
  /** @param {string} original the text as it is in the file */
  constructor(original) {
    this.original = Buffer.from(original);
    this.lean = original.replaceAll('\r\n', '\n');
    this.bytes = Buffer.from(this.lean);
    this.lineStarts = [0];
    for (let i = this.bytes.indexOf(10); i >= 0; i = this.bytes.indexOf(10, i + 1))
      this.lineStarts.push(i + 1);
    this.removed = this.lean.length === original.length ? null : carriageReturns(this.original);
  }

  /** The index of the line that holds a byte of Lean's text. */
  lineOf(offset) {
    let [low, high] = [0, this.lineStarts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Lean's byte offset → [line, column], both from 1. */
  position(offset) {
    const line = this.lineOf(offset);
    const before = this.bytes.toString('utf8', this.lineStarts[line], offset);
    return [line + 1, [...before].length + 1];
  }

  /** Line from 1 and column from 0, as in Lean's messages → byte offset in the file. */
  offset(line, column) {
    const start = this.lineStarts[line - 1];
    const before = [...this.bytes.toString('utf8', start)].slice(0, column).join('');
    return this.toFile(start + Buffer.byteLength(before));
  }

  /** Lean's byte offset → byte offset in the file. */
  toFile(offset) {
    return this.removed === null ? offset : offset + upperBound(this.removed, offset);
  }

  /** Byte offset in the file → Lean's. */
  fromFile(offset) {
    if (this.removed === null) return offset;
    const pairs = this.original.subarray(0, offset).toString('latin1').match(/\r\n/g)?.length ?? 0;
    return offset - pairs;
  }

  /** The text between two of Lean's byte offsets, as in the file. */
  slice(start, end) {
    return this.original.toString('utf8', this.toFile(start), this.toFile(end));
  }

  /** A range as we report it. */
  range(start, end) {
    return {
      start: this.position(start),
      end: this.position(end),
      bytes: [this.toFile(start), this.toFile(end)],
    };
  }
}

/** For each CRLF, the offset in Lean's text from which one more byte is missing. */
function carriageReturns(bytes) {
  const offsets = [];
  for (let i = bytes.indexOf('\r\n'); i >= 0; i = bytes.indexOf('\r\n', i + 2))
    offsets.push(i - offsets.length);
  return offsets;
}

/** How many of the sorted numbers are below `value`. */
function upperBound(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Deeper brackets than any person writes; some thousands more would exhaust the stack of Lean's parser. */
const MAX_NESTING = 1000;

/** What keeps a text from being parsed safely, or null: brackets that are nested too deeply. */
function nestingProblem(text) {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[()[\]{}⟨⟩]/g)) {
    depth = '([{⟨'.includes(bracket) ? depth + 1 : Math.max(depth - 1, 0);
    if (depth > MAX_NESTING) return `brackets are nested deeper than ${MAX_NESTING}`;
  }
  return null;
}

/** A digest of a text, in hexadecimal. */
const sha256 = (text) => crypto.createHash('sha256').update(text).digest('hex');

module.exports = { SourceText, nestingProblem, sha256 };
