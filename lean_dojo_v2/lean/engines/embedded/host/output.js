'use strict';

const fs = require('node:fs');

/** Writes all of some bytes; a pipe may take them in pieces, and is not waited for by Node. */
function writeAll(stream, bytes) {
  for (let rest = bytes; rest.length > 0; ) {
    try {
      rest = rest.subarray(fs.writeSync(stream, rest));
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(0);
      if (error.code !== 'EAGAIN') throw error;
    }
  }
}

module.exports = { writeAll };
