// What goes over the wire, for browsers as well: it needs no other file. A test holds it against what the service says.

const CATALOGUE = {
  '00': { message: 'Successful', retryable: false },
  '10': { message: 'The request is not well-formed', retryable: false },
  '11': { message: 'The request has invalid fields', retryable: false },
  '12': { message: 'x-event-ref is missing or not a UUID', retryable: false },
  '20': { message: 'x-secret-key is not valid', retryable: false },
  '21': { message: 'No such event', retryable: false },
  '30': { message: 'No such ticket under this event', retryable: false },
  '31': { message: 'The ticket is not on sale', retryable: false },
  '32': { message: 'The ticket is sold out', retryable: false },
  '33': { message: 'This e-mail address is already registered for the event', retryable: false },
  '34': { message: 'No such registration', retryable: false },
  '35': { message: "The registration's state does not allow this", retryable: false },
  '36': { message: 'Not registered: another one of the group was refused', retryable: false },
  '37': { message: 'You hold as many seats of the ticket as one partner may', retryable: false },
  '40': { message: 'The Idempotency-Key was used with a different request', retryable: false },
  '41': { message: 'A request with this Idempotency-Key is in progress', retryable: true },
  '50': { message: 'Too many requests', retryable: true },
  '60': { message: 'No such route', retryable: false },
  '70': { message: 'No such webhook', retryable: false },
  '71': { message: 'There are as many webhooks as there may be', retryable: false },
  '72': { message: 'The operator has paused this webhook', retryable: false },
  '90': { message: 'The service is overloaded; nothing was reserved', retryable: true },
  '91': { message: 'The outcome is unknown; retry with the same Idempotency-Key', retryable: true },
  '99': { message: 'Unexpected error', retryable: true },
} as const;

export type ResponseCode = keyof typeof CATALOGUE;
export type FailureCode = Exclude<ResponseCode, '00'>;

/** Every response code that is known: what it says where there is no more to say, and whether a retry may help. */
export const RESPONSE_CODES: Readonly<Record<ResponseCode, { message: string; retryable: boolean }>> =
  CATALOGUE;

const COMMON = ['10', '12', '20', '21', '50', '90', '99'] as const;

/** Every failure that each operation may answer. */
export const OPERATION_FAILURES = {
  registerForEvent: [...COMMON, '11', '30', '31', '32', '33', '37', '40', '41', '91'],
  registerInBulk: [...COMMON, '11', '40', '41', '91'],
  getRegistration: [...COMMON, '34'],
  cancelRegistration: [...COMMON, '34', '35', '91'],
  confirmRegistration: [...COMMON, '34', '35', '91'],
  resetTestEvent: [...COMMON, '60', '91'],
  listRegistrations: [...COMMON, '11'],
  getTickets: [...COMMON],
  getLaunch: [...COMMON],
  getPass: [...COMMON, '11', '34', '35'],
  listRevokedPasses: [...COMMON, '11'],
  listWebhooks: [...COMMON],
  createWebhook: [...COMMON, '11', '71'],
  getWebhook: [...COMMON, '11', '70'],
  changeWebhook: [...COMMON, '11', '70'],
  pauseWebhook: [...COMMON, '11', '70'],
  resumeWebhook: [...COMMON, '11', '70', '72'],
  deleteWebhook: [...COMMON, '11', '70'],
  testWebhook: [...COMMON, '11', '70'],
  rotateWebhookSecret: [...COMMON, '11', '70'],
  replayWebhook: [...COMMON, '11', '70'],
  listWebhookAttempts: [...COMMON, '11', '70'],
} as const satisfies Record<string, readonly FailureCode[]>;

export type Operation = keyof typeof OPERATION_FAILURES;
export type FailureOf<Name extends Operation> = (typeof OPERATION_FAILURES)[Name][number];

/** What one registration of a bulk call may be refused with. */
export const BULK_ITEM_FAILURES = [
  '11',
  '30',
  '31',
  '32',
  '33',
  '36',
  '37',
] as const satisfies readonly FailureCode[];

/** Registrations that one bulk call may ask for. */
export const BULK_LIMIT = 1_000;
/** Largest body of a bulk call, and of a single one, that the service reads. */
export const BULK_BODY_LIMIT_BYTES = 1024 * 1024;
export const BODY_LIMIT_BYTES = 36 * 1024;

/** What every answer of the service looks like. */
export interface Envelope<Data = unknown> {
  responseCode: string;
  responseMessage: string;
  responseData: Data;
}

/** An attendee and a ticket. The rule of each field is in the API's reference. */
export interface RegistrationRequest {
  fullName: string;
  emailAddress: string;
  phoneNumber?: string | null;
  gender?: string | null;
  tableOrSeat?: string | null;
  /** `id` of a ticket. */
  organizedEventTicketID: number;
  extraData1?: string | null;
  extraData2?: string | null;
}

/** A ticket that can be bought now. */
export interface Ticket {
  /** Send it as organizedEventTicketID when registering. */
  id: number;
  ticketTitle: string;
  ticketPrice: number;
  ticketBenefits: string;
  activeStatus: boolean;
  organizedEventID: number;
  organizedEvent: null;
  /** Seats that remain. */
  count: number;
  dateCreated: string;
  createdBy: number;
  lastModifiedBy: string;
  lastModifiedDate: string;
}

/** How far a registration is. Holds nothing about the attendee. */
export interface RegistrationStatus {
  passReference: string;
  /** `held`: for a while, until you confirm it. `failed`: finalization gave up; the seat stays held. */
  state: 'held' | 'reserved' | 'confirmed' | 'cancelled' | 'failed';
  organizedEventID: number;
  organizedEventTicketID: number;
  ticketTitle: string;
  dateReserved: string;
  dateFinalized: string | null;
  dateCancelled: string | null;
}

/** A page of what became of registrations, in the order in which it happened. */
export interface RegistrationList {
  registrations: RegistrationStatus[];
  /** Where to read on, now or later. */
  cursor: string;
  /** Whether there is more now. */
  more: boolean;
}

/** How far a test event was reset. */
export interface TestEventReset {
  /** By this call. */
  cancelled: number;
  /** Whether there is more to do. If so, ask again. */
  more: boolean;
}

/** How far the sale of an event is. */
export interface LaunchState {
  phase: 'scheduled' | 'open' | 'soldOut' | 'closed';
  opensAt: string | null;
  closesAt: string | null;
  /** The clock that decides. */
  serverTime: string;
  seatsLeft: number;
}

/** The pass of a confirmed registration. Whoever shows it is admitted. */
export interface AttendeePass {
  passReference: string;
  /** The text of the QR code. */
  pass: string;
  keyID: string;
  organizedEventID: number;
  organizedEventTicketID: number;
  validFrom: string | null;
  validUntil: string | null;
}

/** A page of revoked passes as it is served. */
export interface RevokedPasses {
  /** A JWS, for `verifyPass`. */
  revocations: string;
  cursor: string;
  more: boolean;
}

/** A webhook to create. What is left out has its default. */
export interface WebhookRequest {
  url: string;
  description?: string;
  types?: WebhookEventType[];
  entriesPerMessage?: number;
  /** `start`, the default: all that is kept. `now`: what happens from now on. */
  from?: 'start' | 'now';
}

/** What to change of a webhook. What is left out stays. */
export type WebhookChange = Partial<Omit<WebhookRequest, 'from'>>;

export interface Webhook {
  id: string;
  url: string;
  description: string;
  types: WebhookEventType[];
  entriesPerMessage: number;
  state: 'active' | 'paused' | 'disabled';
  disabledReason: 'gone' | 'failing' | 'test_event' | null;
  /** Everything up to here was delivered. */
  cursor: string;
  /** Failed attempts since the last success. */
  failures: number;
  dateFailing: string | null;
  dateNextAttempt: string | null;
  /** Verifies signatures of the kind v1a. */
  publicKey: string;
  dateCreated: string;
}

/** The same with its secret, which no later answer repeats. */
export interface WebhookWithSecret extends Webhook {
  secret: string;
}

/** An attempt to send a message. */
export interface WebhookAttempt {
  messageId: string;
  /** Both cursors are null in a test. */
  previousCursor: string | null;
  cursor: string | null;
  entries: number;
  dateAttempted: string;
  milliseconds: number;
  outcome: 'delivered' | 'slowed' | 'gone' | 'refused' | 'failed' | 'stopped';
  httpStatus: number | null;
  error: string | null;
}

/** What a webhook tells of. */
export type WebhookEventType =
  | 'registration.confirmed'
  | 'registration.cancelled'
  | 'registration.failed'
  | 'ticket.sold_out'
  | 'ticket.reopened';

/** What happened to a registration. It is as it was then. */
export interface WebhookRegistrationEntry extends RegistrationStatus {
  type: 'registration.confirmed' | 'registration.cancelled' | 'registration.failed';
}

/** What happened to a ticket. */
export interface WebhookTicketEntry {
  type: 'ticket.sold_out' | 'ticket.reopened';
  organizedEventID: number;
  organizedEventTicketID: number;
  dateChanged: string;
}

/** What a webhook is sent. */
export type WebhookMessage =
  | {
      type: 'event.changes';
      timestamp: string;
      data: {
        /** The event: x-event-ref. */
        eventRef: string;
        /** The cursor of the message before: where it is another, something is missing in between. */
        previousCursor: string;
        /** List Registrations goes on from here, by `after`. */
        cursor: string;
        entries: (WebhookRegistrationEntry | WebhookTicketEntry)[];
      };
    }
  | { type: 'webhook.test'; timestamp: string; data: { eventRef: string } };
