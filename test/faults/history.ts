/** How one attempt of a partner's request ended. */
export type AttemptEnd =
  | { kind: 'answered'; status: number; code: string; passReference: string | null }
  /** The connection ended before the answer was complete. */
  | { kind: 'cut' }
  /** No connection was to be had: nothing was sent. */
  | { kind: 'refused' }
  /** The partner gave up waiting. */
  | { kind: 'timed-out' };

/** The response code, or what came instead of an answer. */
export const labelOf = (end: AttemptEnd): string => (end.kind === 'answered' ? end.code : end.kind);

export interface Attempt {
  /** Which of the APIs it went to. */
  api: number;
  /** Milliseconds since the round began. */
  sentAt: number;
  endedAt: number;
  end: AttemptEnd;
}

/**
 * One registration that a partner wants, and all that it did to get it. Without an Idempotency-Key there is one
 * attempt: a second one would be a second registration.
 */
export interface RequestRecord {
  /** Travels in extraData1, so that its row can be found again. */
  id: string;
  /** Which of the round's events it is for. */
  event: number;
  ticketId: number;
  isKeyed: boolean;
  /** Of a bulk call that wants all of its registrations or none: which call. */
  group: string | null;
  attempts: Attempt[];
  /** Whether its seat is held for a while only. */
  isHeld: boolean;
  /** How the attempts ended to confirm it, where it is held. */
  confirmations: AttemptEnd[];
  /** How the attempts ended to cancel it, once it was granted. */
  cancellations: AttemptEnd[];
}

/** A partner asking for what must be there: a registration that it was given, or how far the sale is. */
export interface Lookup {
  what: string;
  end: AttemptEnd;
}

export interface History {
  requests: RequestRecord[];
  lookups: Lookup[];
}

/** A registration as Postgres has it. */
export interface StoredRegistration {
  requestId: string;
  ticketId: number;
  passReference: string;
  state: string;
  isCancelled: boolean;
  /** Whether its seat is still held for a while. */
  isHeld: boolean;
  /** What the journal tells of it, in order. */
  changes: string[];
}

export interface StoredTicket {
  id: number;
  capacity: number;
  taken: number;
}

/** What is stored of a round, read when everything has come to rest. */
export interface Stored {
  registrations: StoredRegistration[];
  tickets: StoredTicket[];
}
