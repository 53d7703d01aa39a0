'use strict';
/** The playground: a goal, its state, a box for tactics, suggestions, and a search that draws its tree. */

const find = (id) => document.getElementById(id);
const proof = { goal: '', tactics: [], state: '', solved: false };

function say(text, kind = '') {
  find('said').textContent = text;
  find('said').className = kind;
}

/** Asks about the goal; `question` is what is asked besides. */
async function post(path, question) {
  const body = JSON.stringify({ goal: proof.goal, ...question });
  const answer = await fetch(path, { method: 'POST', headers: headers(), body });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  return answer;
}
const ask = async (path, question) => (await post(path, question)).json();

/** A server that listens beyond its machine wants its token: …/#token=… */
function headers() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  return { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) };
}

async function busy(work) {
  const buttons = [...document.querySelectorAll('button')];
  buttons.forEach((button) => (button.disabled = true));
  try {
    await work();
  } catch (error) {
    say(error.message, 'bad');
  } finally {
    buttons.forEach((button) => (button.disabled = false));
  }
}

async function show(tactics) {
  const answer = await ask('v1/tactic', { tactics });
  Object.assign(proof, { tactics, state: answer.state, solved: answer.solved });
  find('proof').hidden = false;
  find('suggestions').hidden = true; // they were for another state
  find('state').textContent = proof.state;
  find('steps').replaceChildren(...tactics.map((text) => element('li', text)));
  if (!proof.solved) return;
  const whole = await ask('v1/proof', { proof: tactics.join('\n') });
  say(whole.valid ? 'Proved: Lean has checked the whole proof.' : `No proof: ${whole.detail}`, whole.valid ? 'good' : 'bad');
}

function element(tag, text, kind = '') {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = kind;
  return made;
}

async function attempt(tactic) {
  const answer = await ask('v1/tactic', { tactics: proof.tactics, tactic });
  if (answer.state === null) {
    say(`${answer.verdict}: ${answer.detail}`, 'bad');
    return;
  }
  say(answer.verdict);
  await show([...proof.tactics, tactic]);
}

async function suggest() {
  const { suggestions } = await ask('v1/suggest', { tactics: proof.tactics });
  const rows = suggestions.map((one) => {
    const row = document.createElement('tr');
    const use = element('button', one.tactic);
    use.onclick = () => busy(() => attempt(one.tactic));
    const cell = document.createElement('td');
    cell.append(use);
    const verdict = element('td', one.verdict, one.verdict);
    verdict.title = one.detail || one.state || '';
    row.append(cell, element('td', one.logprob.toFixed(2)), verdict);
    return row;
  });
  find('suggestions').tBodies[0].replaceChildren(...rows);
  find('suggestions').hidden = false;
  say(`${suggestions.length} suggestions`);
}

async function search() {
  const nodes = new Map();
  const answer = await post('v1/search', { tactics: proof.tactics });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = '';
  let result = null;
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (pending + (value ?? '')).split('\n');
    pending = lines.pop();
    for (const line of lines.filter(Boolean)) {
      const event = JSON.parse(line);
      if (event.error) throw new Error(event.error.message);
      for (const node of event.nodes ?? []) nodes.set(node.id, node);
      if (event.result) result = event.result;
    }
    draw(nodes);
    say(`${nodes.size} states`);
    if (done) break;
  }
  if (result?.success) await show([...proof.tactics, ...result.tactics]);
  else say(`No proof found: ${result?.reason ?? 'the search ended'}`, 'bad');
}

/** Draws the tree as nested lists, with the way to the proof marked; parents come before children. */
function draw(nodes) {
  const proved = new Set();
  for (let node = [...nodes.values()].find((one) => one.status === 'solved'); node; node = nodes.get(node.parent))
    proved.add(node.id);
  const lists = new Map([[null, element('ul', '')]]);
  for (const node of nodes.values()) {
    const item = element('li', '', proved.has(node.id) ? 'proof' : '');
    const label = element('span', node.tactic || proof.goal, node.status);
    label.title = node.state;
    label.onmouseenter = () => (find('hint').textContent = node.state);
    lists.set(node.id, element('ul', ''));
    item.append(label, lists.get(node.id));
    lists.get(node.parent).append(item);
  }
  find('tree').replaceChildren(lists.get(null));
  find('tree').hidden = false;
}

find('open').onsubmit = (event) => {
  event.preventDefault();
  proof.goal = find('goal').value;
  say('');
  find('tree').hidden = true;
  busy(() => show([]));
};
find('step').onsubmit = (event) => {
  event.preventDefault();
  busy(async () => {
    await attempt(find('tactic').value);
    find('tactic').value = '';
  });
};
find('undo').onclick = () => busy(() => show(proof.tactics.slice(0, -1)));
find('suggest').onclick = () => busy(suggest);
find('search').onclick = () => busy(search);
