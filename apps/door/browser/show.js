import { gateOf, UNDO_WITHIN_MS } from './scan.js';

/** @import { Door } from './wire.d.ts' */
/** @import { Result } from './scan.js' */

/** After this time, the device warns that its revocation list is old. */
const STALE_MS = 3_600_000;

/** @typedef {[tone: 'good' | 'bad' | 'neutral' | 'unsure', icon: string, text: string]} Shown */

/** @type {Record<Result['outcome'], Shown>} */
const OUTCOMES = {
  admitted: ['good', '✓', 'Admitted'],
  exited: ['neutral', '←', 'Exit'],
  undone: ['neutral', '↺', 'Undone'],
  'already-admitted': ['bad', '✕', 'Already admitted'],
  'admitted-again': ['bad', '✕', 'Admitted twice'],
  cancelled: ['bad', '✕', 'Cancelled'],
  'wrong-gate': ['bad', '✕', 'Wrong gate'],
  'too-early': ['bad', '✕', 'Too early'],
  'too-late': ['bad', '✕', 'Too late'],
  unknown: ['bad', '✕', 'Unknown pass'],
  'invalid-signature': ['bad', '✕', 'Forged pass'],
  revoked: ['bad', '✕', 'Pass withdrawn'],
  superseded: ['neutral', '↺', 'Decided later'],
  refused: ['bad', '✕', 'Not accepted'],
};
/** @type {Record<NonNullable<Result['reason']>, Shown>} */
const REASONS = {
  reference: ['unsure', '?', 'Not checked'],
  'other-event': ['bad', '✕', 'Pass of another event'],
};
const READY = /** @type {const} */ (['ready', '', 'Ready to scan']);
/** Frequency in hertz, and the vibration in milliseconds. */
const SIGNALS = {
  good: { frequency: 1_320, seconds: 0.12, vibration: [80] },
  unsure: { frequency: 440, seconds: 0.25, vibration: [120, 80, 120] },
  neutral: { frequency: 660, seconds: 0.12, vibration: [80] },
  bad: { frequency: 196, seconds: 0.5, vibration: [200, 100, 200] },
};

/**
 * Returns the element with this id.
 * @param {string} id
 */
export const element = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * An unchanged text is not written: a screen reader would read it again.
 * @param {string} id
 * @param {string} text
 */
function showText(id, text) {
  if (element(id).textContent !== text) element(id).textContent = text;
}

/** @param {string} at */
const timeOf = (at) => new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

/**
 * Returns a time in the zone of the event, with the day if it is not today.
 * @param {string} at
 * @param {string | null} zone
 */
function momentOf(at, zone) {
  const timeZone = zone ?? undefined;
  const date = new Date(at);
  const day = { weekday: 'short', day: 'numeric', month: 'short', timeZone };
  const dayOf = (/** @type {Date} */ one) => one.toLocaleDateString('en-GB', /** @type {any} */ (day));
  const time = date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone });
  return dayOf(date) === dayOf(new Date()) ? time : `${dayOf(date)}, ${time}`;
}

/** @param {string} at @param {string | null} zone */
const dateOf = (at, zone) =>
  new Date(at).toLocaleDateString('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: zone ?? undefined,
  });

/** @type {AudioContext | undefined} */
let audio;
/** @type {number | undefined} */
let clearing;

/**
 * Shows sections, and hides the others.
 * @param {string[]} ids
 */
export function showSections(ids) {
  for (const section of document.querySelectorAll('section')) section.hidden = !ids.includes(section.id);
}

/**
 * Shows a message to the person at the door. Null: none.
 * @param {string | null} text
 */
export function showNotice(text) {
  element('notice').hidden = text === null;
  element('notice').textContent = text;
}

/**
 * Shows a result, with sound and vibration. After the time for an undo it disappears, with the name of the
 * attendee. Without a result, the scanner is ready.
 * @param {Result | null} result
 */
export function showResult(result) {
  clearTimeout(clearing);
  const box = element('result');
  const [tone, icon, text] = result ? shownOf(result) : READY;
  const texts = [icon, text, result?.name ?? '', detailOf(result)];
  for (const [index, line] of [...box.children].entries()) line.textContent = texts[index] ?? '';
  box.className = tone;
  element('undo').hidden = !result?.undoable;
  if (tone === 'ready') return;
  signal(tone);
  clearing = setTimeout(showResult, UNDO_WITHIN_MS, null);
}

/** @param {Result} result @returns {Shown} */
function shownOf({ outcome, reason, otherEvent }) {
  if (otherEvent) return REASONS['other-event'];
  return reason ? REASONS[reason] : OUTCOMES[outcome];
}

/** @param {Result | null} result */
function detailOf(result) {
  if (!result) return '';
  const { ticket, first, message, isOffline, reason } = result;
  const earlier = first && `First at ${timeOf(first.at)}, ${first.gate}, ${first.device}`;
  const advice = reason === 'reference' && 'Cannot check a reference without network. Scan the code.';
  const facts = [ticket, earlier, message, otherEventOf(result), timeLimitOf(result), advice];
  return [...facts, isOffline && 'Decided offline'].filter(Boolean).join(' · ');
}

/** @param {Result} result */
function otherEventOf({ otherEvent }) {
  if (!otherEvent) return '';
  const { name, startsAt, timeZone } = otherEvent;
  return startsAt ? `${name}, ${dateOf(startsAt, timeZone)}` : name;
}

/** @param {Result} result */
function timeLimitOf({ outcome, times }) {
  if (outcome === 'too-early' && times?.from) return `from ${momentOf(times.from, times.timeZone)}`;
  return outcome === 'too-late' && times?.until ? `until ${momentOf(times.until, times.timeZone)}` : '';
}

/** @param {keyof typeof SIGNALS} tone */
function signal(tone) {
  const { frequency, seconds, vibration } = SIGNALS[tone];
  navigator.vibrate?.(vibration);
  audio ??= new AudioContext();
  void audio.resume();
  const beep = new OscillatorNode(audio, { frequency, type: tone === 'bad' ? 'square' : 'sine' });
  beep.connect(new GainNode(audio, { gain: 0.3 })).connect(audio.destination);
  beep.start();
  beep.stop(audio.currentTime + seconds);
}

/**
 * Shows the gate, the counts, the connection, and the facts about the device.
 * @param {Door} door
 */
export function showDoor(door) {
  const { name = '', admitted = 0, inside = 0 } = gateOf(door) ?? {};
  showText('title', door.event?.name ?? 'Door');
  showText('gate-name', name);
  showText('admitted', String(admitted));
  showText('inside', String(inside));
  showText(
    'connection',
    door.isOnline ? 'Online' : door.isUnknown ? 'Not accepted by the server' : 'Offline',
  );
  element('connection').className = door.isOnline ? '' : 'offline';
  showDevice(door);
  showAge(door);
}

/** @param {Door} door */
function showDevice({ device, waiting, refusal, gates, isSignedOff }) {
  showText('device-title', device.deviceName);
  showText('waiting', waiting === 0 ? 'All scans are uploaded.' : `Scans that wait for upload: ${waiting}`);
  element('ended').hidden = !isSignedOff;
  element('refusal').hidden = refusal === null;
  const { counter, message } = refusal ?? {};
  showText('refusal', `The server did not accept scan ${counter}: ${message}. It stays on this device.`);
  element('change-gate').hidden = gates.length < 2 || isSignedOff;
  element('sign-off').hidden = isSignedOff;
  element('resume').hidden = !isSignedOff;
}

/** @param {Door} door */
function showAge({ revocations: { at }, clockOffsetMs }) {
  const ageMs = at === null ? Infinity : Math.max(0, Date.now() + clockOffsetMs - Date.parse(at));
  const minutes = Math.floor(ageMs / 60_000);
  const isStale = ageMs > STALE_MS;
  const age =
    at === null ? 'not loaded yet' : minutes === 0 ? 'less than a minute old' : `${minutes} min old`;
  const advice = isStale ? '. Cancelled passes can be admitted. Connect to the network.' : '';
  element('revocations').className = isStale ? 'warning' : '';
  showText('revocations', `Revocation list: ${age}${advice}`);
}
