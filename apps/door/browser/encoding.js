const encoder = new TextEncoder();

/**
 * Returns the UTF-8 bytes of a text.
 * @param {string} text
 */
export const bytesOf = (text) => encoder.encode(text);

/**
 * Returns the bytes that hashes and signatures of the door cover: the values, joined by line feeds. Null is
 * an empty line.
 * @param {(string | number | null)[]} values
 */
export const linesOf = (...values) => bytesOf(['FGD1', ...values].join('\n'));

/**
 * Returns bytes as base64url.
 * @param {ArrayBuffer | Uint8Array<ArrayBuffer>} bytes
 */
export function toBase64Url(bytes) {
  const binary = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * Returns the bytes of a base64url text. Throws if it is not one.
 * @param {string} text
 */
export function fromBase64Url(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
