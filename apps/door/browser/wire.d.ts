// Shapes of the door's protocol (apps/docs/how-it-works/door.md), and of what the device stores.

import type * as Client from '../../../packages/client/src/results.ts';
import type { Outcome, Scan } from '../../../packages/door/src/wire.ts';

export type { Outcome, Scan };
export type Direction = Scan['direction'];
export type Decision = NonNullable<Scan['decision']>;
export type OutcomeName = Outcome['outcome'];

export interface StoredScan extends Scan {
  hash: string;
  /** 1: the scan waits for its upload. IndexedDB cannot index true. */
  waiting?: 1;
  /** The message of the server, which did not accept the scan. */
  refusal?: string;
}

export interface Gate {
  gateID: number;
  name: string;
  area: string;
  tickets: number[] | null;
  opensAt: string | null;
  closesAt: string | null;
  entryRule: 'once' | 're-entry' | 'any';
  showsNames: boolean;
  admitted: number;
  inside: number;
}

export type PublicKey = Client.PassKeySet['keys'][number];
export type EventDocument = Pick<
  Client.EventDocument,
  'event' | 'name' | 'timeZone' | 'validFrom' | 'validUntil'
>;

export interface RevocationPage {
  event: number;
  partner: number | null;
  after: string;
  cursor: string;
  serials: number[];
  at: string;
}

export interface State {
  device: Pick<Device, 'deviceName'>;
  nextCounter: number;
  event: string;
  keys: { keys: PublicKey[] };
  gates: Gate[];
}

/** The latest admission of a pass in an area by this device. It has no attendee data. */
export interface Admission {
  at: string;
  gate: string;
  isInside: boolean;
}

/** The data for an offline decision. */
export interface Known {
  keys: PublicKey[];
  event: EventDocument;
  gate: Gate;
  deviceName: string;
  /** The time of the server, as far as the device knows it. */
  nowMs: number;
  isRevoked(serial: number): Promise<boolean>;
  /** This device's own, in the area of the gate. */
  admissionOf(serial: number): Promise<Admission | undefined>;
}

export interface Device {
  token: string;
  deviceID: number;
  deviceName: string;
  organizedEventID: number;
  privateKey: CryptoKey;
}

/** The data that the device stores under these names. Scans, revoked serials and admissions have their own stores. */
export interface Facts {
  device?: Device;
  /** The key with which the device enrols, until it has. */
  enrolment: { privateKey: CryptoKey; publicKey: string } | null;
  head: { counter: number; hash: string };
  event: EventDocument | null;
  keys: PublicKey[];
  gates: Gate[];
  gateID: number | null;
  revocations: { cursor: string; at: string | null };
  /** The time of the server minus the device's own clock. */
  clockOffsetMs: number;
  /** The first scan that the server did not accept. */
  refusal: { counter: number; message: string } | null;
  isSignedOff: boolean;
}

/** An enrolled device. */
export interface Door extends Facts {
  device: Device;
  db: IDBDatabase;
  isOnline: boolean;
  /** Whether the server has refused the token or the signature of the device. */
  isUnknown: boolean;
  /** Whether a scan waits for the answer of the server. The upload must not send it too. */
  isAsking: boolean;
  waiting: number;
  /** Erases all data. Never resolves, so that nothing continues after it. */
  onRevoked(): Promise<never>;
}

export interface Answer<Data> {
  code: string;
  message: string;
  data: Data;
  /** Whether the operator revoked this device. */
  isRevoked: boolean;
  /** The time of the server, or null without an answer. */
  dateMs: number | null;
  retryAfterMs: number;
}

declare global {
  /** The server writes these two lines at the start of the service worker. */
  const VERSION: string;
  const FILES: string[];
}
