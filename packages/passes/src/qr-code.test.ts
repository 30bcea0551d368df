import { generateKeyPairSync } from 'node:crypto';
import { decode } from 'fast-png';
import { decodeQR } from 'qr/decode.js';
import { expect, test } from 'vitest';
import { qrPng, qrSvg } from './qr-code.ts';
import { signPass } from './token.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const PASS = {
  keyId: 65_535,
  eventId: 2_147_483_647,
  ticketId: 1,
  serial: 317,
  validFrom: null,
  validUntil: new Date(),
};
const TOKEN = signPass(PASS, privateKey);

/** Of so many registrations. */
const TOKENS = Array.from({ length: 40 }, (_, serial) =>
  signPass({ ...PASS, serial: 1 + serial * 7_919 }, privateKey),
);

test.for([TOKEN, ...TOKENS])('the PNG shows the token %$', (token) => {
  const { width, height, data } = decode(qrPng(token));
  expect([width, height]).toEqual([392, 392]);
  // Four bytes per pixel are what the reader of codes expects: red, green, blue and how opaque.
  const rowBytes = width / 8;
  const pixels = new Uint8Array(width * height * 4).fill(255);
  for (let at = 0; at < width * height; at += 1) {
    const byte = data[Math.floor(at / width) * rowBytes + Math.floor((at % width) / 8)]!;
    if (!(byte & (0x80 >> (at % 8)))) pixels.fill(0, at * 4, at * 4 + 3);
  }
  expect(decodeQR({ width, height, data: pixels })).toBe(token);
});

test('the SVG shows the token, black on white', () => {
  const svg = qrSvg(TOKEN);
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)![1]);
  expect(svg).toContain(`<path fill="#fff" d="M0 0h${size}v${size}H0z"/>`);
  const scale = 4;
  const pixels = new Uint8Array((size * scale) ** 2 * 4).fill(255);
  for (const [, x, y, length] of svg.matchAll(/M(\d+) (\d+)\.5h(\d+)/g))
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row += 1)
      for (let column = Number(x) * scale; column < (Number(x) + Number(length)) * scale; column += 1) {
        const at = (row * size * scale + column) * 4;
        pixels.fill(0, at, at + 3);
      }
  expect(decodeQR({ width: size * scale, height: size * scale, data: pixels })).toBe(TOKEN);
});
