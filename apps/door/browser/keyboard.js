import { isPassLike, spelled } from './typed.js';

/** A scanner types faster than a person. After a longer pause, a new text starts. */
const LONGEST_PAUSE_MS = 500;
/** A person who presses Tab after fewer characters wants to go on. */
const SCANNED_CHARACTERS = 8;

/**
 * The characters at the positions of a US keyboard, without and with Shift. Scanners type as if this keyboard
 * were there.
 */
const POSITIONS = {
  Minus: '-_',
  Equal: '=+',
  Period: '.>',
  Comma: ',<',
  Slash: '/?',
  Semicolon: ';:',
  Quote: '\'"',
  BracketLeft: '[{',
  BracketRight: ']}',
  Backslash: '\\|',
  Backquote: '`~',
  Space: '  ',
};
const SHIFTED_DIGITS = ')!@#$%^&*(';
/** Accents, and editors for other scripts, keep the character back. */
const HIDDEN = ['Dead', 'Process'];
const ALT_CODE = /^(?:Numpad|Digit)(\d)$/;

/**
 * Returns the character at a position of a US keyboard.
 * @param {KeyboardEvent} event
 */
function characterAt({ code, key, shiftKey }) {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  // A pass has capitals only, so Shift and Caps Lock do not matter.
  if (letter) return letter;
  const [, digit] = /^Digit(\d)$/.exec(code) ?? [];
  if (digit) return shiftKey ? (SHIFTED_DIGITS[Number(digit)] ?? '') : digit;
  const pair = POSITIONS[/** @type {keyof typeof POSITIONS} */ (code)];
  if (pair) return pair[Number(shiftKey)] ?? '';
  // Keys that are the same in every layout, such as those of the number pad.
  return key.length === 1 ? key : '';
}

/**
 * Calls `onTexts` with each text that a hardware scanner types. A scanner ends a text with Enter, with Tab,
 * or with a pause; the last only if the text is a pass. Where the layout of the scanner differs from that of
 * the device, the typed characters are wrong. So a text has two readings: by the positions of the keys, and
 * by their characters. Scanners that type a character by its code, with Alt, are read as well.
 *
 * In a field, a text counts only if it is a pass. It is then removed from the field. Otherwise the field
 * works as usual.
 * @param {(texts: string[]) => void} onTexts
 */
export function readKeyboard(onTexts) {
  /** By positions, and by characters. */
  let texts = ['', ''];
  let keys = 0;
  let lastMs = -Infinity;
  let altCode = '';
  /** @type {number | undefined} */
  let timer;

  const clear = () => {
    clearTimeout(timer);
    texts = ['', ''];
    keys = 0;
  };
  /** @param {Event} event */
  const fieldOf = ({ target }) =>
    target instanceof HTMLInputElement && target.type !== 'radio' ? target : undefined;
  const isPass = () => texts.map(spelled).some(isPassLike);
  /**
   * Whether a person types into the field. If the field has another text than the characters that were typed,
   * it was edited.
   * @param {HTMLInputElement | undefined} field
   */
  const isTyped = (field) => field !== undefined && (!isPass() || field.value !== texts[1]);
  /** @param {HTMLInputElement | undefined} field */
  const finish = (field) => {
    const found = texts;
    clear();
    if (field) field.value = '';
    onTexts(found);
  };
  /**
   * Adds a character in each reading.
   * @param {KeyboardEvent} event
   * @param {[string, string]} characters
   */
  const add = (event, characters) => {
    if (event.timeStamp - lastMs > LONGEST_PAUSE_MS) clear();
    lastMs = event.timeStamp;
    keys += 1;
    texts = texts.map((text, reading) => text + characters[reading]);
    clearTimeout(timer);
    const field = fieldOf(event);
    timer = setTimeout(() => {
      if (isPass() && !isTyped(field)) finish(field);
    }, LONGEST_PAUSE_MS);
  };

  /**
   * Whether a key is no typed character. Collects the digits of a character that is typed by its code.
   * @param {KeyboardEvent} event
   */
  const isShortcut = (event) => {
    if (!event.altKey) return event.ctrlKey || event.metaKey;
    altCode += ALT_CODE.exec(event.code)?.[1] ?? '';
    // AltGr types a character on some layouts.
    return !event.getModifierState('AltGraph');
  };
  /** @param {KeyboardEvent} event */
  const end = (event) => {
    if (event.timeStamp - lastMs > LONGEST_PAUSE_MS) clear();
    const field = fieldOf(event);
    const isShort = event.key === 'Tab' && keys < SCANNED_CHARACTERS;
    // A person presses Tab to go on, and a form sends itself.
    if (keys === 0 || isShort || isTyped(field)) return clear();
    // Enter would also press the button that has the focus.
    event.preventDefault();
    finish(field);
  };

  document.addEventListener('keydown', (event) => {
    if (isShortcut(event)) return;
    const { key } = event;
    if (key === 'Enter' || key === 'Tab') return end(event);
    const character = characterAt(event);
    if (key.length === 1) add(event, [character, key]);
    else if (HIDDEN.includes(key) && character) add(event, [character, '']);
  });
  document.addEventListener('keyup', (event) => {
    if (event.key !== 'Alt' || altCode === '') return;
    const character = String.fromCharCode(Number(altCode));
    altCode = '';
    add(event, [character, character]);
  });
}
