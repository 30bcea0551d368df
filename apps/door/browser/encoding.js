const encoder = new TextEncoder();

/** Returns the UTF-8 bytes of a text. */
export const bytesOf = (/** @type {string} */ text) => encoder.encode(text);

/**
 * Returns the bytes that hashes and signatures of the door cover: the values, joined by line feeds. Null is an empty line.
 * @param {(string | number | null)[]} values
 */
export const linesOf = (...values) => bytesOf(['FGD1', ...values].map((value) => value ?? '').join('\n'));

/** Returns bytes as base64url. */
export function toBase64Url(/** @type {ArrayBuffer | Uint8Array<ArrayBuffer>} */ bytes) {
  const binary = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** Returns the bytes of a base64url text. Throws if it is not one. */
export function fromBase64Url(/** @type {string} */ text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
