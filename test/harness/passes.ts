import { createPublicKey, verify, type KeyObject, type webcrypto } from 'node:crypto';
import type { Revocations } from '@floodgate/passes';
import { decode } from 'fast-png';
import { decodeQR } from 'qr/decode.js';

// Checks passes as a door does.

export type PassKeys = ReadonlyMap<number, KeyObject>;

/** Fetches the public keys without a secret key. */
export async function fetchPassKeys(baseUrl: string): Promise<PassKeys> {
  const response = await fetch(`${baseUrl}/.well-known/floodgate/pass-keys.json`);
  const { keys } = (await response.json()) as { keys: (webcrypto.JsonWebKey & { kid: string })[] };
  return new Map(keys.map((key) => [Number(key.kid), createPublicKey({ key, format: 'jwk' })]));
}

/** Reads the QR code of a picture with one bit per pixel, in rows of whole bytes. */
export function readQrCode(png: Uint8Array): string {
  const { width, height, data } = decode(png);
  const rowBytes = Math.ceil(width / 8);
  const pixels = new Uint8Array(width * height * 4).fill(255);
  for (let at = 0; at < width * height; at += 1) {
    const [x, y] = [at % width, Math.floor(at / width)];
    const isLight = (data[y * rowBytes + (x >> 3)]! & (0x80 >> (x & 7))) !== 0;
    if (!isLight) pixels.fill(0, at * 4, at * 4 + 3);
  }
  return decodeQR({ width, height, data: pixels });
}

/** Reads a page of revoked passes. Throws if its signature is wrong or also valid for another page. */
export function readRevocations(jws: string, keys: PassKeys): Revocations {
  const [header, payload, signature] = jws.split('.') as [string, string, string];
  const parse = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { kid } = parse(header) as { kid: string };
  const isSigned = (text: string) =>
    verify(null, Buffer.from(text), keys.get(Number(kid))!, Buffer.from(signature, 'base64url'));
  const page = parse(payload) as Revocations;
  const altered = Buffer.from(JSON.stringify({ ...page, after: 'altered' })).toString('base64url');
  if (!isSigned(`${header}.${payload}`) || isSigned(`${header}.${altered}`))
    throw new Error('the signature of the page is wrong');
  return page;
}
