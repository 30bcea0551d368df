import { generateKeyPairSync } from 'node:crypto';
import { decode } from 'fast-png';
import { decodeQR } from 'qr/decode.js';
import { expect, test } from 'vitest';
import { qrPng, qrSvg } from './qr-code.ts';
import { signPass } from './token.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const KEY = { id: 65_535, privateKey };
const PASS = { eventId: 2_147_483_647, ticketId: 1, serial: 317 };
const TOKEN = signPass(PASS, KEY);

/** Tokens of other registrations. */
const TOKENS = Array.from({ length: 40 }, (_, index) =>
  signPass({ ...PASS, serial: 1 + index * 7_919 }, KEY),
);

test.for(([4, 8] as const).flatMap((scale) => [TOKEN, ...TOKENS].map((token) => [scale, token] as const)))(
  'the PNG shows the token %$',
  ([scale, token]) => {
    const { width, height, data } = decode(qrPng(token, scale));
    expect([width, height]).toEqual([49 * scale, 49 * scale]);
    // The QR reader expects four bytes per pixel: red, green, blue and opacity.
    const rowBytes = Math.ceil(width / 8);
    const pixels = new Uint8Array(width * height * 4).fill(255);
    for (let at = 0; at < width * height; at += 1) {
      const byte = data[Math.floor(at / width) * rowBytes + Math.floor((at % width) / 8)]!;
      if (!(byte & (0x80 >> (at % 8)))) pixels.fill(0, at * 4, at * 4 + 3);
    }
    expect(decodeQR({ width, height, data: pixels })).toBe(token);
  },
);

test('the SVG shows the token, black on white', () => {
  const svg = qrSvg(TOKEN);
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)![1]);
  expect(svg).toContain(`<path fill="#fff" d="M0 0h${size}v${size}H0z"/>`);
  const scale = 4;
  const pixels = new Uint8Array((size * scale) ** 2 * 4).fill(255);
  for (const [x, y] of darkModules(svg))
    for (let row = y * scale; row < (y + 1) * scale; row += 1) {
      const at = (row * size + x) * scale * 4;
      for (let column = 0; column < scale; column += 1) pixels.fill(0, at + column * 4, at + column * 4 + 3);
    }
  expect(decodeQR({ width: size * scale, height: size * scale, data: pixels })).toBe(TOKEN);
});

/** Follows the path. Each dark module is a square of size 1 from a point that is absolute or relative to the previous point. */
function darkModules(svg: string): [number, number][] {
  const [, path = ''] = /<path d="([^"]+)"/.exec(svg) ?? [];
  let [x, y] = [0, 0];
  return Array.from(path.matchAll(/([Mm])(-?\d+)[ ,]?(-?\d+)h1v1[Hh]-?\d+Z/g), ([, move, dx, dy]) => {
    [x, y] = move === 'M' ? [Number(dx), Number(dy)] : [x + Number(dx), y + Number(dy)];
    return [x, y];
  });
}
