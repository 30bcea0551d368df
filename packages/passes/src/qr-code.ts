import { crc32, deflateSync } from 'node:zlib';
import { encodeQR } from 'qr';

// The picture of a pass.

// A token has 136 characters of the alphanumeric mode: a code of 41 × 41 modules, 15 % of which may be
// unreadable. Scanners expect a border of four light modules. The mask is fixed. A signature is random, so
// none of the eight masks is better, and trying all of them takes twice as long.
const OPTIONS = { ecc: 'medium', encoding: 'alphanumeric', border: 4, mask: 3 } as const;
/** Default width of a module. */
const PIXELS_PER_MODULE = 8;

/**
 * Returns the QR code of a token as an SVG picture. Black on white, because most scanners do not read
 * inverted codes.
 */
export function qrSvg(token: string): string {
  const svg = encodeQR(token, 'svg', OPTIONS);
  const [, size = ''] = /viewBox="0 0 (\d+)/.exec(svg) ?? [];
  const pixels = Number(size) * PIXELS_PER_MODULE;
  const root =
    `<svg width="${pixels}" height="${pixels}" shape-rendering="crispEdges" role="img" ` +
    'aria-label="QR code of the pass"';
  return svg.replace('<svg', root).replace('<path', `<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path`);
}

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
// A small window: the default allocates 256 KB for each picture.
const PNG_COMPRESSION = { level: 3, windowBits: 10, memLevel: 3 };

/**
 * Returns the QR code of a token as a PNG picture with one bit per pixel, and 4 or 8 pixels per module. Every
 * e-mail has a picture, so speed matters: the zlib of Node.js takes 0.03 ms, a library in JavaScript takes
 * 0.3 ms.
 */
export function qrPng(token: string, pixelsPerModule: 4 | 8 = PIXELS_PER_MODULE): Buffer {
  const rows = encodeQR(token, 'raw', OPTIONS);
  const size = rows.length * pixelsPerModule;
  const light = 2 ** pixelsPerModule - 1;
  // The first byte of a line is its filter type. 0: not filtered.
  const lineBytes = 1 + Math.ceil(size / 8);
  const data = Buffer.alloc(size * lineBytes);
  for (const [y, row] of rows.entries()) {
    const start = y * pixelsPerModule * lineBytes;
    for (let x = 0, pixel = 8; x < row.length; x += 1, pixel += pixelsPerModule)
      if (!row[x]) data[start + (pixel >> 3)]! |= light << (8 - pixelsPerModule - (pixel % 8));
    for (let line = 1; line < pixelsPerModule; line += 1)
      data.copyWithin(start + line * lineBytes, start, start + lineBytes);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.writeUInt8(1, 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    pngChunk('IDAT', deflateSync(data, PNG_COMPRESSION)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(data.length + 12);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4);
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), data.length + 8);
  return chunk;
}
