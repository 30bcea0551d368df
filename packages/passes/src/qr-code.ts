import { encode } from 'fast-png';
import { encodeQR } from 'qr';

// A token has 148 characters of the alphanumeric mode: a code of 41 × 41 modules, a seventh of which may be unreadable.
const OPTIONS = { ecc: 'medium', encoding: 'alphanumeric' } as const;
/** Modules around the code that scanners expect to be empty. */
const QUIET_ZONE = 4;
const PIXELS_PER_MODULE = 8;

/** Returns the QR code of a token as an SVG picture: black on white, whatever the page around it is. */
export function qrSvg(token: string): string {
  const rows = encodeQR(token, 'raw', { ...OPTIONS, border: QUIET_ZONE });
  const size = rows.length;
  // A line for each run of dark modules.
  const path = rows
    .map((row, y) =>
      runsOf(row)
        .map(([x, length]) => `M${x} ${y + 0.5}h${length}`)
        .join(''),
    )
    .join('');
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" width="${size * PIXELS_PER_MODULE}" ` +
    `height="${size * PIXELS_PER_MODULE}" shape-rendering="crispEdges" role="img" aria-label="QR code of the pass">` +
    `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${path}"/></svg>`
  );
}

/** Where runs of dark modules begin, and how long each is. */
function runsOf(row: readonly boolean[]): [number, number][] {
  const starts = row.flatMap((isDark, x) => (isDark && !row[x - 1] ? [x] : []));
  return starts.map((start) => {
    const end = row.indexOf(false, start);
    return [start, (end === -1 ? row.length : end) - start];
  });
}

/** Returns the QR code of a token as a PNG picture of one bit per pixel. */
export function qrPng(token: string): Buffer {
  const rows = encodeQR(token, 'raw', { ...OPTIONS, border: QUIET_ZONE, scale: PIXELS_PER_MODULE });
  const size = rows.length;
  const bytesPerRow = Math.ceil(size / 8);
  const data = new Uint8Array(bytesPerRow * size);
  rows.forEach((row, y) =>
    row.forEach((isDark, x) => {
      // A set bit is white.
      if (!isDark) data[y * bytesPerRow + (x >> 3)]! |= 0x80 >> (x & 7);
    }),
  );
  return Buffer.from(encode({ width: size, height: size, data, depth: 1, channels: 1 }));
}
