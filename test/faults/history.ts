/** When a call was made, in milliseconds since the round began, and of which API. */
export interface CallWindow {
  api: number;
  from: number;
  to: number;
}

/** How one attempt of a partner's request ended. */
export type AttemptEnd = { during?: CallWindow } & (
  | {
      kind: 'answered';
      status: number;
      code: string;
      passReference: string | null;
      /** Of a basket. */
      holdReference?: string | undefined;
    }
  /** The connection ended before the answer was complete. */
  | { kind: 'cut' }
  /** No connection was to be had: nothing was sent. */
  | { kind: 'refused' }
  /** The partner gave up waiting. */
  | { kind: 'timed-out' }
);

/** The response code, or what came instead of an answer. */
export const labelOf = (end: AttemptEnd): string => (end.kind === 'answered' ? end.code : end.kind);

export const isSaid = (ends: readonly AttemptEnd[]): boolean => ends.some((end) => labelOf(end) === '00');

/** The e-mail address of an attendee, by request, or of a contact, by basket. */
export const addressOf = (id: string): string => `${id}@example.com`;

/** The request for a seat of a basket. */
export const seatId = (basket: string, index: number): string => `${basket}.${index}`;

export interface Attempt {
  /** Which of the APIs it went to. */
  api: number;
  /** Milliseconds since the round began. */
  sentAt: number;
  endedAt: number;
  end: AttemptEnd;
}

/**
 * One registration that a partner wants, and all that it did to get it. Without an Idempotency-Key there is
 * one attempt: a second one would be a second registration. A seat that another attendee gets is asked for
 * until there is an answer.
 */
export interface RequestRecord {
  /** Travels in extraData1, so that its row can be found again. */
  id: string;
  /** Which of the round's events it is for. */
  event: number;
  ticketId: number;
  isKeyed: boolean;
  /** Of a basket, or a bulk call that wants all of its registrations or none: which call. */
  group: string | null;
  attempts: Attempt[];
  /** Whether its seat is held for a while only. */
  isHeld: boolean;
  /** How the attempts ended to confirm it, where it is held. */
  confirmations: AttemptEnd[];
  /** How the attempts ended to cancel it, once it was granted. */
  cancellations: AttemptEnd[];
  /** Of a basket, whose seats are confirmed together. */
  isInBasket: boolean;
  extensions: AttemptEnd[];
  /** How the attempts ended to give it back before it is confirmed. */
  releases: AttemptEnd[];
  /** The registration whose seat it is to get. */
  replaces: RequestRecord | null;
}

type Wanted = Pick<RequestRecord, 'id' | 'event' | 'ticketId'> & Partial<RequestRecord>;

/** Returns the record of what was not asked for yet. */
export const newRequest = (wanted: Wanted): RequestRecord => ({
  isKeyed: false,
  group: null,
  attempts: [],
  isHeld: false,
  confirmations: [],
  cancellations: [],
  isInBasket: false,
  extensions: [],
  releases: [],
  replaces: null,
  ...wanted,
});

/** A partner asking for what must be there: a registration that it was given, or how far the sale is. */
export interface Lookup {
  what: string;
  end: AttemptEnd;
}

/** An entry of a waiting list that a partner wants. */
export interface WaitingRecord {
  /** Its partner reference, so that its row can be found again. */
  id: string;
  event: number;
  ticketId: number;
  seats: number;
  /** How the attempts ended to join. Without an Idempotency-Key there is one. */
  joins: AttemptEnd[];
  /** The references that it was given. */
  entries: Set<string>;
  /** What was read of it, in order. */
  states: string[];
  /** How the attempts ended to accept the offer, and to leave or decline. */
  confirmations: AttemptEnd[];
  leaves: AttemptEnd[];
}

/** A seat of a call. */
export interface CalledSeat {
  ticket: number;
  /** Of a registration that is wanted. */
  id?: string;
  /** The answer of a grant, or the seat to change. */
  pass?: string | null;
  /** The answer for this seat. */
  answer?: string;
  /** The pass whose seat it takes over. */
  old?: string;
  /** Seats that a raised capacity adds. */
  n?: number;
}

/** A call that changes the counter of a ticket, or that tells how it stands. */
export interface CallRecord {
  call: string;
  /** Of a waiting-list entry. */
  id?: string;
  event: number;
  start: number;
  /** Null: no answer came. */
  end: number | null;
  answer: string | null;
  /** Whether it wants all seats or none. */
  all?: boolean;
  /** The state of an entry that was read. "done": nothing is left to reset. */
  state?: string;
  seats: CalledSeat[];
}

/** The end of a hold that the suite has set. */
export interface SetExpiry {
  ticketId: number;
  serial: number;
  at: number;
}

export interface History {
  requests: RequestRecord[];
  waiting: WaitingRecord[];
  lookups: Lookup[];
  /** What goes into the file of the round. */
  calls: CallRecord[];
  expiries: SetExpiry[];
}

export const newHistory = (): History => ({
  requests: [],
  waiting: [],
  lookups: [],
  calls: [],
  expiries: [],
});

/** A registration as Postgres has it. */
export interface StoredRegistration {
  requestId: string;
  ticketId: number;
  passReference: string;
  state: string;
  isCancelled: boolean;
  /** Whether its seat is still held for a while. */
  isHeld: boolean;
  /** Whether another registration has its seat. */
  isReplaced: boolean;
  /** The e-mail address; null where no attendee is known yet. */
  address: string | null;
  /** What the journal tells of it, in order. */
  changes: string[];
}

/** An entry of a waiting list as Postgres has it. */
export interface StoredEntry {
  requestId: string;
  reference: string;
  serial: number;
  ticketId: number;
  seats: number;
  state: string;
  wasOffered: boolean;
}

export interface StoredTicket {
  id: number;
  capacity: number;
  taken: number;
}

/** The seats that a partner with an allocation has, and how many it may have. */
export interface StoredAllocation {
  ticketId: number;
  cap: number | null;
  seats: number;
}

/** What is stored of a round, read when everything has come to rest. */
export interface Stored {
  registrations: StoredRegistration[];
  /** Entries of waiting lists, and the seats that they were offered. */
  entries: StoredEntry[];
  offered: StoredRegistration[];
  tickets: StoredTicket[];
  allocations: StoredAllocation[];
}
