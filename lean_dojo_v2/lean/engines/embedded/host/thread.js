'use strict';
/** Where a task thread of Lean begins: the glue makes its instance of Lean. Its argument is the glue's folder. */

const { openGlue } = require('./glue.js');

openGlue(process.argv[2])({});
