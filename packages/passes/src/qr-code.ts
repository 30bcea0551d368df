import { encodeQR } from 'qr';
import { encodePng, PIXELS_PER_MODULE } from './png.ts';

// A token has 148 characters of the alphanumeric mode: a code of 41 × 41 modules, a seventh of which may be unreadable.
// Around it are the four light modules that scanners expect. One mask for all: a signature is as good as random, so none of the eight is
// better than the others on the whole, and to try them all takes longer than all the rest.
const OPTIONS = { ecc: 'medium', encoding: 'alphanumeric', border: 4, mask: 3 } as const;

/** Returns the QR code of a token as an SVG picture: black on white, whatever the page around it is. */
export function qrSvg(token: string): string {
  const rows = encodeQR(token, 'raw', OPTIONS);
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
export const qrPng = (token: string): Buffer => encodePng(encodeQR(token, 'raw', OPTIONS));
