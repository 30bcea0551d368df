import {
  createHash,
  createHmac,
  randomBytes,
  scrypt,
  timingSafeEqual,
  type ScryptOptions,
} from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

// The parameters that OWASP recommends for scrypt, with 64 MiB of memory.
const COST = { N: 2 ** 16, r: 8, p: 2, maxmem: 2 ** 27 };
const BYTES = 32;
const NOBODY = `${'0'.repeat(32)}$${'0'.repeat(64)}`;

/** Returns the salted hash of a password, as stored. Takes about 0.3 s of a core. */
export async function hashPassword(password: string) {
  const salt = randomBytes(16);
  const hash = await derive(password.normalize(), salt, BYTES, COST);
  return `${salt.toString('hex')}$${hash.toString('hex')}`;
}

/**
 * Returns whether the password has this hash. Takes the same time if there is none, so that nobody can find
 * out who has one.
 */
export async function isPassword(password: string, stored: string | null) {
  const [salt, hash] = (stored ?? NOBODY).split('$').map((hex) => Buffer.from(hex, 'hex'));
  return timingSafeEqual(await derive(password.normalize(), salt!, BYTES, COST), hash!) && stored !== null;
}

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';
/** Returns a password that a person can type. It has 95 random bits. */
export const createPassword = () =>
  Array.from(randomBytes(19), (byte) => LETTERS[byte % LETTERS.length]).join('');

/** In Unicode characters. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 128;

/**
 * Returns whether the text can be a password: made here, or chosen by an operator. Others need no hash to be
 * refused.
 */
export function hasPasswordForm(text: string) {
  const { length } = Array.from(text);
  return length >= SHORTEST_PASSWORD && length <= LONGEST_PASSWORD;
}

const ACCESS = /^fgo_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;

const hashSecret = (secret: string) => createHash('sha256').update(secret).digest();

/** Returns the text of a new session or token, and its id and hash, which are stored. */
export function createAccessText() {
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  return { id, text: `fgo_${id}_${secret}`, secretHash: hashSecret(secret) };
}

/**
 * Returns the id in the text of a session or token, and a function that compares its secret with a hash.
 * Undefined: another text.
 */
export function parseAccessText(text: string) {
  const [, id, secret] = ACCESS.exec(text) ?? [];
  if (!id || !secret) return undefined;
  return { id, isOf: (secretHash: Buffer) => timingSafeEqual(hashSecret(secret), secretHash) };
}

const DEVICE = /^([1-9]\d{0,9})\.([\w-]{22})\.([\w-]{43})$/;

const signDevice = (operatorId: number, id: string, passwordHash: string) =>
  createHmac('sha256', passwordHash).update(`device ${operatorId} ${id}`).digest();

/** Returns the text by which a browser is known after a sign-in of the operator. Another password makes it invalid. */
export function createDeviceText(operatorId: number, passwordHash: string) {
  const id = randomBytes(16).toString('base64url');
  return `${operatorId}.${id}.${signDevice(operatorId, id, passwordHash).toString('base64url')}`;
}

/** Returns the id of the browser, and a function that checks its signature. Undefined: another text. */
export function parseDeviceText(text: string) {
  const [, operatorId, id, signature] = DEVICE.exec(text) ?? [];
  if (!operatorId || !id || !signature) return undefined;
  const given = Buffer.from(signature, 'base64url');
  const isOf = (operator: { id: number; passwordHash: string }) =>
    operator.id === Number(operatorId) &&
    timingSafeEqual(given, signDevice(operator.id, id, operator.passwordHash));
  return { id, isOf };
}
