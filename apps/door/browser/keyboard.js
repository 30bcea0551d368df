/** A scanner types faster than a person. After a longer pause, a new text starts. */
const LONGEST_PAUSE_MS = 500;

/**
 * Calls `onText` with each text that ends with Enter and was not typed into a field, as hardware scanners type it.
 * @param {(text: string) => void} onText
 */
export function readKeyboard(onText) {
  let text = '';
  let lastMs = 0;
  document.addEventListener('keydown', (event) => {
    const { key, timeStamp, target } = event;
    const isField = target instanceof HTMLInputElement && target.type !== 'radio';
    if (isField || event.ctrlKey || event.metaKey || event.altKey) return;
    if (timeStamp - lastMs > LONGEST_PAUSE_MS) text = '';
    lastMs = timeStamp;
    if (key.length === 1) text += key;
    if (key !== 'Enter' || text === '') return;
    // Enter would also press the button that has the focus.
    event.preventDefault();
    onText(text);
    text = '';
  });
}
