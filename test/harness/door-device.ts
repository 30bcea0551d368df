import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { perform } from '@floodgate/audit';
import type { Database } from '@floodgate/database';
import { createDeviceAction, createGateAction } from '@floodgate/door/actions';
import { doorOperations } from '@floodgate/door/console';
import { COMMAND_LINE } from '@floodgate/operators';
import type { Answer } from './partner-client.ts';
import { waitUntil } from './wait-until.ts';

/** A scan as a device sends it. apps/docs/how-it-works/door.md explains the fields. */
export interface Scan {
  counter: number;
  previousHash: string;
  pass: string;
  gateID: number;
  direction: 'in' | 'out' | 'undo';
  of: number | null;
  scannedAt: string;
  decision: string | null;
}

export interface Outcome {
  counter: number;
  outcome: string;
  name: string | null;
  ticket: string | null;
  first: { at: string; gate: string; device: string } | null;
}

const OPERATOR = 'tests';

/** Adds a gate to an event. Resolves to its id. */
export const addGate = async (
  db: Database,
  eventId: number,
  given: Partial<Parameters<typeof createGateAction.run>[1]> = {},
) => (await perform(db, createGateAction, { eventId, name: 'Main entrance', ...given }, OPERATOR)).id;

/** Adds a device to an event, with a code that enrols it. */
export const addDevice = (db: Database, eventId: number, gates: number[], name = 'Scanner') =>
  perform(db, createDeviceAction, { eventId, name, gates }, OPERATOR);

/** Returns the report of an event, as the operator API reads it. */
export const readReport = (db: Database, eventId: number) =>
  doorOperations.doorReport(db, { eventId }, COMMAND_LINE);

/** Whether a call changed nothing and can be repeated: too many requests, or the server is busy or ends. */
export const isRefused = ({ status }: Answer): boolean => [429, 503].includes(status);

/** Repeats a call until it is not refused. */
export const answerOf = (call: () => Promise<Answer>): Promise<Answer> =>
  waitUntil('an answer', async () => {
    const answer = await call();
    return !isRefused(answer) && answer;
  });

/** A device with its own key, its chain of scans, and a clock that can be wrong. */
export class DoorDevice {
  /** What the device's clock shows too much, in milliseconds. */
  clockErrorMs = 0;
  /** Every scan so far. */
  readonly scans: Scan[] = [];
  id = 0;
  #token = '';
  #lastHash = '';
  readonly #baseUrl: string;
  readonly #key: KeyObject;
  readonly #publicKey: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    this.#key = privateKey;
    this.#publicKey = publicKey.export({ format: 'jwk' }).x!;
  }

  /** Exchanges a code for the device's token. */
  async enrol(code: string): Promise<Answer> {
    const answer = await this.send('POST', '/enrol', this.enrolment(code));
    if (answer.body.responseCode === '00') {
      const { token, deviceID } = answer.body.responseData as { token: string; deviceID: number };
      this.#token = token;
      this.id = deviceID;
    }
    return answer;
  }

  /** Returns the signed body of an enrolment. */
  enrolment(code: string) {
    const signature = this.sign('enrol', code, this.#publicKey);
    return { code, publicKey: this.#publicKey, signature, version: 'test' };
  }

  sign(...parts: string[]): string {
    return sign(null, Buffer.from(['FGD1', ...parts].join('\n')), this.#key).toString('base64url');
  }

  now(): string {
    return new Date(Date.now() + this.clockErrorMs).toISOString();
  }

  /** Appends a scan to the chain without sending it. */
  append(pass: string, gateID: number, more: Partial<Scan> = {}): Scan {
    const chain = { counter: this.scans.length + 1, previousHash: this.#lastHash };
    const given = { direction: 'in' as const, of: null, scannedAt: this.now(), decision: null, ...more };
    const scan: Scan = { ...chain, pass, gateID, ...given };
    this.scans.push(scan);
    this.#lastHash = this.hashOf(scan);
    return scan;
  }

  hashOf({ counter, previousHash, pass, gateID, direction, of, scannedAt, decision }: Scan): string {
    const fields = [
      this.id,
      counter,
      previousHash,
      pass,
      gateID,
      direction,
      of ?? '',
      scannedAt,
      decision ?? '',
    ];
    return createHash('sha256')
      .update(['FGD1', ...fields].join('\n'))
      .digest('base64url');
  }

  /** Sends scans, by default all of them. */
  upload(scans: readonly Scan[] = this.scans, changes: object = {}): Promise<Answer> {
    return this.send('POST', '/scans', { ...this.signed(scans), ...changes });
  }

  /** Returns the signed body of a call with these scans. */
  signed(scans: readonly Scan[]) {
    const sentAt = this.now();
    return { scans, sentAt, signature: this.sign('scans', sentAt, this.hashOf(scans.at(-1)!)) };
  }

  /** Appends a scan, sends it, and resolves to its outcome. */
  async scan(pass: string, gateID: number, more: Partial<Scan> = {}): Promise<Outcome> {
    const answer = await this.upload([this.append(pass, gateID, more)]);
    if (answer.body.responseCode !== '00') throw new Error(answer.body.responseMessage);
    return (answer.body.responseData as { outcomes: Outcome[] }).outcomes[0]!;
  }

  state(): Promise<Answer> {
    return this.send('GET', `/state?counter=${this.scans.length}`);
  }

  signOff(): Promise<Answer> {
    return this.send('POST', `/sign-off?counter=${this.scans.length}`);
  }

  resume(): Promise<Answer> {
    return this.send('POST', `/resume?counter=${this.scans.length}`);
  }

  /** Returns the headers that authenticate a request. */
  credentials(method: string, url: string): Record<string, string> {
    const time = String(Date.now());
    const signature = this.sign(method, url, time);
    return { authorization: `Door ${this.#token}`, 'x-door-time': time, 'x-door-signature': signature };
  }

  /** Sends a signed request to a path below /door/v1. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const url = `/door/v1${path}`;
    const response = await fetch(this.#baseUrl + url, {
      method,
      headers: {
        ...this.credentials(method, url),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: JSON.parse(text) as Answer['body'],
    };
  }
}

/** Returns a device that is enrolled for these gates of an event. */
export async function enrolledDevice(
  db: Database,
  baseUrl: string,
  eventId: number,
  gates: number[],
  name?: string,
): Promise<DoorDevice> {
  const device = new DoorDevice(baseUrl);
  const { code } = await addDevice(db, eventId, gates, name);
  const { body } = await answerOf(() => device.enrol(code));
  if (body.responseCode !== '00') throw new Error(body.responseMessage);
  return device;
}
