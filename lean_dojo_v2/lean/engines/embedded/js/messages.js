'use strict';
/** Lean's messages and exceptions as JSON and text. */

/** Messages as Lean serialises them: {severity, pos: {line, column}, endPos, data, kind, caption, fileName, …}. */
function messages(rt, log) {
  const items = rt.arrayItems(rt.call('l_Lean_MessageLog_toArray', log));
  return items.map((message) => {
    const json = rt.call('l_Lean_Message_toJson', message);
    return JSON.parse(rt.text(rt.call('l_Lean_Json_compress', json)));
  });
}

const isError = (message) => message.severity === 'error';
const messageText = (rt, data) => rt.text(rt.call('l_Lean_MessageData_toString', data));

/** An exception's text. Internal ones (abort, postpone, unsupported syntax) carry an identifier instead of a message. */
function exceptionText(rt, exception) {
  const text = messageText(rt, rt.call('l_Lean_Exception_toMessageData', exception));
  return text.replace('(invalid MessageData.lazy, missing context)', ''); // hints that only an editor could show
}

const emptyLog = (rt) => rt.constant('l_Lean_MessageLog_empty');

module.exports = { messages, isError, messageText, exceptionText, emptyLog };
