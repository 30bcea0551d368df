import { InvalidInput } from '@floodgate/service/failure';

/** The largest file, in bytes. */
export const GUEST_LIST_BYTES = 2 * 1024 * 1024;

const HOW_TO_SAVE =
  'Save the file as UTF-8: in Excel as "CSV UTF-8", in LibreOffice with the character set "Unicode (UTF-8)"';

const LINE_FEED = 0x0a;

/** Returns the problem of a guest list as an error that names its field. */
export const badList = (problem: string) => new InvalidInput({ csv: problem });

/**
 * Returns the text of a file. Throws InvalidInput if it is too large or not UTF-8, and names the first line that
 * shows it: in another encoding, names would be stored with wrong letters.
 */
export function decodeGuestList(bytes: Uint8Array): string {
  assertSize(bytes.length);
  if (isUtf16(bytes)) throw badList(`line 1 shows that the file is UTF-16. ${HOW_TO_SAVE}`);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch {
    throw badList(`line ${findBadLine(bytes, decoder)} is not UTF-8. ${HOW_TO_SAVE}`);
  }
}

/** Throws InvalidInput if a text is too large, or was read in a wrong encoding. */
export function assertDecoded(text: string) {
  assertSize(Buffer.byteLength(text));
  // The last are halves of characters.
  const at = text.search(/[\0\uFFFD]|\p{Cs}/u);
  if (at < 0) return;
  const line = text.slice(0, at).split('\n').length;
  throw badList(`line ${line} has characters that were lost in another encoding. ${HOW_TO_SAVE}`);
}

function assertSize(bytes: number) {
  if (bytes > GUEST_LIST_BYTES)
    throw badList(`the file has ${bytes} bytes, and at most ${GUEST_LIST_BYTES} are allowed; divide it`);
}

/** Whether a file begins with the byte order mark of UTF-16, or its first characters have a zero byte each. */
function isUtf16(bytes: Uint8Array) {
  const [first = 0, second = 0] = bytes;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  return isMarked || bytes.subarray(0, 64).includes(0);
}

/** A character of several bytes has no line feed in it, so each line can be decoded alone. */
function findBadLine(bytes: Uint8Array, decoder: TextDecoder) {
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    const stop = end < 0 ? bytes.length : end + 1;
    try {
      decoder.decode(bytes.subarray(start, stop));
    } catch {
      return line;
    }
    start = stop;
  }
  return line;
}
