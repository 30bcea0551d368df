import { startCamera } from './camera.js';
import { recount, sendAgain } from './chain.js';
import { readKeyboard } from './keyboard.js';
import { chooseGenuine, scanPass, undo, undoOpenQuestion } from './scan.js';
import { createKey, enrol } from './server.js';
import { element, showDoor, showNotice, showResult, showSections } from './show.js';
import { eraseAll, loadFacts, openStorage, saveFacts } from './storage.js';
import { changeShift, keepSynchronized } from './sync.js';

/** @import { Device, Door, Facts } from './wire.d.ts' */
/** @import { Result, Undoable } from './scan.js' */

const RENDER_INTERVAL_MS = 5_000;
const STARTED = { isOnline: false, isAsking: false, isUnknown: false, waiting: 0 };

/** Called with each code from the camera, the keyboard or a form. */
let onCode = (/** @type {string} */ _text) => {};

/**
 * Returns the code of an enrolment in a text: the text itself, or the fragment of a link to the scanner.
 * @param {string} text
 */
const codeIn = (text) =>
  text
    .slice(text.indexOf('#') + 1)
    .replace(/^code=/, '')
    .trim()
    .toUpperCase();

/** Returns the code in the address of the page, and removes it: it works once, and does not belong into the history. */
function takeCode() {
  const code = codeIn(location.hash);
  if (location.hash) history.replaceState(null, '', location.pathname);
  return code;
}

/** The code of the link that opened the scanner. Empty: it was opened without one. */
const offeredCode = takeCode();

/** @type {Promise<unknown>} */
let tasks = Promise.resolve();

/**
 * Runs a task after the tasks before. A failed task shows its message.
 * @param {() => Promise<unknown>} task
 */
function inOrder(task) {
  tasks = tasks.then(task).catch((error) => showNotice(String(error)));
}

/**
 * Calls `onText` with the text of a form, and empties the form.
 * @param {string} id
 * @param {(text: string) => void} onText
 */
function onSubmit(id, onText) {
  const form = /** @type {HTMLFormElement} */ (element(id));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const text = form.querySelector('input')?.value ?? '';
    form.reset();
    onText(text);
  });
}

/** @param {string} id @param {() => Promise<unknown>} task */
const onClick = (id, task) => element(id).addEventListener('click', () => inOrder(task));

/** Connects the buttons of the camera. They are the same before and after the enrolment. */
function addCamera() {
  /** @type {AbortController | null} */
  let running = null;
  /** @type {MediaStreamTrack | undefined | void} */
  let track;
  const video = /** @type {HTMLVideoElement} */ (element('video'));
  const torch = element('torch');
  const close = () => {
    running?.abort();
    running = null;
    video.hidden = true;
    torch.hidden = true;
    element('camera-switch').ariaPressed = 'false';
  };
  /** Starts the camera again, now or when the page is visible. If that fails, the person at the door learns it. */
  const restart = () => {
    close();
    if (document.visibilityState === 'visible')
      return inOrder(() =>
        open().catch((error) => {
          throw new Error(`The camera stopped. Press Camera to start it again. (${error})`);
        }),
      );
    document.addEventListener('visibilitychange', restart, { once: true });
  };
  const open = async () => {
    running = new AbortController();
    video.hidden = false;
    try {
      track = await startCamera(video, (text) => onCode(text), restart, running.signal);
    } catch (error) {
      close();
      throw error;
    }
    torch.hidden = !track || !('torch' in (track.getCapabilities?.() ?? {}));
    torch.ariaPressed = 'false';
    element('camera-switch').ariaPressed = String(!video.hidden);
  };
  onClick('camera-switch', async () => {
    document.removeEventListener('visibilitychange', restart);
    if (running) return close();
    await open();
  });
  onClick('torch', async () => {
    const isOn = torch.ariaPressed === 'false';
    await track?.applyConstraints({ advanced: [/** @type {object} */ ({ torch: isOn })] });
    torch.ariaPressed = String(isOn);
  });
  return close;
}

/**
 * Resolves to the device after the operator's code was accepted. The key is stored before: if the answer does
 * not arrive, a repetition enrols the same device.
 * @param {{ db: IDBDatabase } & Facts} store
 */
async function enrolDevice(store) {
  if (!store.enrolment) await saveFacts(store, { enrolment: await createKey() });
  const { enrolment } = store;
  if (!enrolment) throw new Error('The key of the device is not stored');
  showSections(['enrol', 'camera']);
  const version = document.querySelector('meta[name=version]')?.getAttribute('content') ?? '';
  return new Promise((/** @type {(device: Device) => void} */ resolve) => {
    let isEnrolled = false;
    onCode = (text) =>
      inOrder(async () => {
        // A code can be submitted twice.
        if (isEnrolled) return;
        const device = await enrol(codeIn(text), version, enrolment);
        showNotice(typeof device === 'string' ? device : null);
        if (typeof device === 'string') return;
        isEnrolled = true;
        /** @type {HTMLFormElement} */ (element('enrol-form')).reset();
        resolve(device);
      });
    onSubmit('enrol-form', onCode);
    const offer = (/** @type {string} */ code) => {
      // It stays in the field: without network, it can be sent again.
      /** @type {HTMLInputElement} */ (element('code')).value = code;
      if (code && !isEnrolled) onCode(code);
    };
    offer(offeredCode);
    // A link can open in the page that is open already.
    addEventListener('hashchange', () => offer(takeCode()));
  });
}

/**
 * Shows the sections for what the device can do now: scan, choose a gate, or resume.
 * @param {Door} door
 */
function showSurface(door) {
  const canChoose = door.gates.length > 0 && door.gateID === null;
  const active = canChoose ? ['gates'] : ['scan', 'camera', 'typing'];
  showSections(door.isSignedOff ? ['device'] : [...active, 'device']);
  showGates(door);
  showDoor(door);
}

/** @param {Door} door */
function showGates(door) {
  const list = element('gate-list');
  const shown = JSON.stringify(door.gates.map(({ gateID, name }) => [gateID, name]));
  // The same buttons stay, because one of them can have the focus.
  if (list.dataset['shown'] === shown) return;
  list.dataset['shown'] = shown;
  const buttons = door.gates.map(({ gateID, name }) => {
    const button = document.createElement('button');
    button.textContent = name;
    button.addEventListener('click', () => inOrder(() => chooseGate(door, gateID)));
    return button;
  });
  list.replaceChildren(...buttons);
}

/** @param {Door} door @param {number | null} gateID */
async function chooseGate(door, gateID) {
  await saveFacts(door, { gateID });
  showResult(null);
  showSurface(door);
}

/**
 * Connects everything that scans.
 * @param {Door} door
 * @param {() => Promise<void>} synchronizeNow
 */
function addScanning(door, synchronizeNow) {
  /** @type {Undoable | null} */
  let undoable = null;
  const show = (/** @type {Result | null} */ result) => {
    if (!result) return;
    undoable = result.undoable;
    showNotice(null);
    showResult(result);
    showDoor(door);
    if (door.isOnline && door.waiting > 0) void synchronizeNow();
  };
  const onTexts = (/** @type {string[]} */ texts) =>
    inOrder(async () => {
      const direction = document.querySelector('input[value=out]:checked') ? 'out' : 'in';
      if (!door.isSignedOff) show(await scanPass(door, await chooseGenuine(texts, door.keys), direction));
    });
  onCode = (text) => onTexts([text]);
  onSubmit('pass-form', onCode);
  readKeyboard(onTexts);
  onClick('undo', async () => {
    if (undoable) show(await undo(door, undoable));
  });
}

/**
 * Connects the buttons of the device.
 * @param {Door} door
 * @param {() => Promise<void>} synchronizeNow
 * @param {() => void} closeCamera
 */
function addShift(door, synchronizeNow, closeCamera) {
  onClick('change-gate', () => chooseGate(door, null));
  onClick('sign-off', async () => {
    await synchronizeNow();
    showNotice(await changeShift(door, 'sign-off'));
    if (door.isSignedOff) closeCamera();
    showResult(null);
    showSurface(door);
  });
  onClick('resume', async () => {
    showNotice(await changeShift(door, 'resume'));
    showSurface(door);
  });
}

/** Opens the storage, enrols the device if necessary, and starts to scan. */
async function start() {
  const closeCamera = addCamera();
  const db = await openStorage();
  const facts = await loadFacts(db);
  const device = facts.device ?? (await enrolDevice({ db, ...facts }));
  if (!facts.device) {
    await saveFacts({ db, ...facts }, { device, enrolment: null });
    closeCamera();
    await navigator.storage.persist();
  }
  if (facts.device && offeredCode)
    showNotice(`This device is enrolled already, as ${device.deviceName}. The code was not used.`);
  const onRevoked = async () => {
    closeCamera();
    showResult(null);
    showSections([]);
    await eraseAll(db);
    element('connection').textContent = '';
    showNotice('This device was revoked. All its data is erased.');
    return new Promise((/** @type {(value: never) => void} */ _resolve) => {});
  };
  /** @type {Door} */
  const door = { ...facts, device, db, ...STARTED, onRevoked };
  await recount(door);
  await undoOpenQuestion(door);
  if (door.refusal) await sendAgain(door, door.refusal.counter);
  const synchronizeNow = keepSynchronized(door, (problem) => {
    if (problem) showNotice(problem);
    showSurface(door);
  });
  addScanning(door, synchronizeNow);
  addEventListener('online', () => void synchronizeNow());
  addShift(door, synchronizeNow, closeCamera);
  showSurface(door);
  setInterval(showDoor, RENDER_INTERVAL_MS, door);
  await synchronizeNow();
}

/** A browser that cannot make such a key could not sign a scan. */
const key = await crypto.subtle?.generateKey('Ed25519', false, ['sign', 'verify']).catch(() => null);
if (key) {
  const showError = (/** @type {unknown} */ error) => showNotice(`${String(error)}. Reload the page.`);
  // The scanner works without it, but cannot be opened without network.
  navigator.serviceWorker.register('service-worker.js').catch(showError);
  const run = async () => {
    showNotice(null);
    await start();
    // Held until the page is closed.
    await new Promise(() => {});
  };
  try {
    // Two tabs would append different scans with the same counter.
    await navigator.locks.request('floodgate-door', { ifAvailable: true }, (lock) => lock && run());
    showNotice('The scanner is open in another tab. Close that tab.');
    await navigator.locks.request('floodgate-door', run);
  } catch (error) {
    showError(error);
  }
} else {
  showNotice(
    'This browser cannot keep the key of a device. Use HTTPS, and Safari 17, Firefox 129, Chrome 137, or ' +
      'a newer version.',
  );
}
