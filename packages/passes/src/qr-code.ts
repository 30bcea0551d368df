import { encode } from 'fast-png';
import { encodeQR } from 'qr';

// A token has 136 characters of the alphanumeric mode: a code of 41 × 41 modules, 15 % of which may be unreadable. Scanners expect
// a border of four light modules.
// The mask is fixed: a signature is random, so none of the eight is better, and trying them all takes twice as long.
const OPTIONS = { ecc: 'medium', encoding: 'alphanumeric', border: 4, mask: 3 } as const;
/** Width of a module of a picture. */
const PIXELS_PER_MODULE = 8;
const PNG_COMPRESSION = 3;

/** Returns the QR code of a token as an SVG picture. Black on white, because most scanners do not read inverted codes. */
export function qrSvg(token: string): string {
  const svg = encodeQR(token, 'svg', OPTIONS);
  const [, size = ''] = /viewBox="0 0 (\d+)/.exec(svg) ?? [];
  const pixels = Number(size) * PIXELS_PER_MODULE;
  const root = `<svg width="${pixels}" height="${pixels}" shape-rendering="crispEdges" role="img" aria-label="QR code of the pass"`;
  return svg.replace('<svg', root).replace('<path', `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path`);
}

/**
 * Returns the QR code of a token as a PNG picture of one bit per pixel, 4 or 8 pixels for a module. Twice the width takes twice the
 * time.
 */
export function qrPng(token: string, pixelsPerModule: 4 | 8 = PIXELS_PER_MODULE): Buffer {
  const rows = encodeQR(token, 'raw', OPTIONS);
  const light = 2 ** pixelsPerModule - 1;
  const bytesPerLine = Math.ceil((rows.length * pixelsPerModule) / 8);
  const lines = rows.map((row) => {
    const line = Buffer.alloc(bytesPerLine);
    for (const [index, isDark] of row.entries()) {
      const firstPixel = index * pixelsPerModule;
      if (!isDark) line[firstPixel >> 3]! |= light << (8 - pixelsPerModule - (firstPixel % 8));
    }
    return line;
  });
  const data = Buffer.concat(lines.flatMap((line) => Array<Uint8Array>(pixelsPerModule).fill(line)));
  const size = rows.length * pixelsPerModule;
  const options = { zlib: { level: PNG_COMPRESSION } } as const;
  return Buffer.from(encode({ width: size, height: size, data, channels: 1, depth: 1 }, options));
}
