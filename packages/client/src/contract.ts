// Generated from the OpenAPI document by `npm test -- contract -u`. Needs no other file, so that browsers can load it.
const final = <Message extends string>(message: Message) => ({ message, retryable: false }) as const;
const retryable = <Message extends string>(message: Message) => ({ message, retryable: true }) as const;
/** Every response code: its default message, and whether a retry may help. */
export const RESPONSE_CODES = {
  '00': final('Successful'),
  '10': final('The request is not well-formed'),
  '11': final('The request has invalid fields'),
  '12': final('x-event-ref is missing or not a UUID'),
  '20': final('x-secret-key is not valid'),
  '21': final('No such event'),
  '30': final('No such ticket under this event'),
  '31': final('The ticket is not on sale'),
  '32': final('The ticket is sold out'),
  '33': final('This e-mail address is already registered for the event'),
  '34': final('No such registration'),
  '35': final("The registration's state does not allow this"),
  '36': final('Not registered: another registration of the call was refused'),
  '37': final('You already hold your maximum number of seats of this ticket'),
  '38': final('The ticket is not sold out'),
  '39': final('The ticket has no open waiting list'),
  '40': final('The Idempotency-Key was used with a different request'),
  '41': retryable('A request with this Idempotency-Key is in progress'),
  '50': retryable('Too many requests'),
  '60': final('No such route'),
  '70': final('No such webhook'),
  '71': final('You have ten webhooks under this event, which is the maximum'),
  '72': final('The operator has paused this webhook'),
  '90': retryable('The service is overloaded; nothing was reserved'),
  '91': retryable('The outcome is unknown; retry with the same Idempotency-Key'),
  '99': retryable('Unexpected error'),
} as const;
export type ResponseCode = keyof typeof RESPONSE_CODES;
export type FailureCode = Exclude<ResponseCode, '00'>;
const COMMON = ['10', '12', '20', '21', '50', '90', '99'] as const;
/** The failures of each operation. */
export const OPERATION_FAILURES = {
  addSeats: [...COMMON, '11', '30', '31', '32', '34', '35', '37', '40', '41', '91'],
  cancelRegistration: [...COMMON, '34', '35', '91'],
  cancelRegistrations: [...COMMON, '11', '34', '35', '91'],
  changeAttendee: [...COMMON, '11', '33', '34', '35', '91'],
  changeWebhook: [...COMMON, '11', '70'],
  confirmHold: [...COMMON, '11', '33', '34', '35', '91'],
  confirmHolds: [...COMMON, '11', '33', '34', '35', '91'],
  confirmRegistration: [...COMMON, '34', '35', '91'],
  createWebhook: [...COMMON, '11', '71'],
  deleteWebhook: [...COMMON, '11', '70'],
  extendHold: [...COMMON, '11', '34', '35', '91'],
  findHolds: [...COMMON, '11'],
  getHold: [...COMMON, '11', '34'],
  getLaunch: [...COMMON],
  getPass: [...COMMON, '11', '34', '35'],
  getRegistration: [...COMMON, '34'],
  getSignedEvent: [...COMMON],
  getTickets: [...COMMON],
  getWaitingEntry: [...COMMON, '11', '34'],
  getWebhook: [...COMMON, '11', '70'],
  holdSeats: [...COMMON, '11', '30', '31', '32', '37', '40', '41', '91'],
  joinWaitingList: [...COMMON, '11', '30', '31', '37', '38', '39', '40', '91'],
  leaveWaitingList: [...COMMON, '11', '34', '35', '91'],
  listAdmissions: [...COMMON, '11', '34'],
  listRegistrations: [...COMMON, '11'],
  listRevokedPasses: [...COMMON, '11'],
  listWebhookAttempts: [...COMMON, '11', '70'],
  listWebhooks: [...COMMON],
  pauseWebhook: [...COMMON, '11', '70'],
  registerForEvent: [...COMMON, '11', '30', '31', '32', '33', '37', '40', '41', '91'],
  registerInBulk: [...COMMON, '11', '40', '41', '91'],
  releaseHold: [...COMMON, '11', '34', '35', '91'],
  replayWebhook: [...COMMON, '11', '70'],
  resetTestEvent: [...COMMON, '60', '91'],
  resumeWebhook: [...COMMON, '11', '70', '72'],
  rotateWebhookSecret: [...COMMON, '11', '70'],
  testWebhook: [...COMMON, '11', '70'],
} as const satisfies Record<string, readonly FailureCode[]>;
export type Operation = keyof typeof OPERATION_FAILURES;
export type FailureOf<Name extends Operation> = (typeof OPERATION_FAILURES)[Name][number];
/** The failures of one registration of a bulk call. */
export const BULK_ITEM_FAILURES = ['11', '30', '31', '32', '33', '36', '37'] as const;
/** Maximum number of registrations in one bulk call. */
export const BULK_LIMIT = 1000;
/** Maximum size of the body of a bulk call, and of any other call, in bytes. */
export const BULK_BODY_LIMIT_BYTES = 1048576;
export const BODY_LIMIT_BYTES = 36864;
/** The three fields of every answer. */
export interface Envelope<Data = unknown> {
  responseCode: string;
  responseMessage: string;
  responseData: Data;
}
export type WebhookEventType = WebhookChanges['data']['entries'][number]['type'];
export interface Admission {
  /** Name of the gate. */
  gate: string;
  /** Name of the device that scanned the pass. */
  device: string;
  /** admitted: the person was let in. again: the person was let in although the pass was admitted before, by a device without network. undone: the scan was taken back. */
  state: 'admitted' | 'again' | 'undone';
  /** Time of the admission. */
  dateAdmitted: string;
  /** Time at which the person left. null: not known to have left. */
  dateLeft: string | null;
}
export interface AdmissionList {
  passReference: PassReference;
  /** The admissions, oldest first. */
  admissions: Admission[];
}
/** An attendee, or the contact for all seats of a hold. */
export interface Attendee {
  /** Required, 1 to 255 characters after trimming, one of them visible, no control or text direction characters inside */
  fullName: string;
  /** Required, an e-mail address of at most 254 characters, with only ASCII before the @ and a dot in the domain after it */
  emailAddress: string;
  /** Optional, at most 32 characters of any kind, no control characters */
  phoneNumber?: string | null;
  /** Optional free text of at most 32 characters, no control or text direction characters */
  gender?: string | null;
  /** Optional free text of at most 64 characters, no control or text direction characters */
  tableOrSeat?: string | null;
  /** Optional free text of at most 1000 characters, no control or text direction characters */
  extraData1?: string | null;
  /** Optional free text of at most 1000 characters, no control or text direction characters */
  extraData2?: string | null;
}
export interface AttendeePass {
  passReference: PassReference;
  /** The signed token that the QR code contains. The public keys are enough to verify it. */
  pass: string;
  /** The `kid` of the key that signed the pass. */
  keyID: string;
  /** Id of the event. */
  organizedEventID: number;
  /** Id of the ticket. */
  organizedEventTicketID: number;
  /** Start of the validity: one day before the current start of the event. null: the event has no start. */
  validFrom: string | null;
  /** End of the validity: one day after the current end of the event. null: the event has no end. */
  validUntil: string | null;
}
/** The registrations to cancel. Unknown fields are ignored. */
export interface Cancellation {
  /** Required, 1 to 100 pass references */
  passReferences: PassReference[];
}
export interface CancelledRegistrations {
  /** The cancelled registrations, in the order of the request. */
  passReferences: PassReference[];
}
export interface ConfirmedHolds {
  /** The holds, in the order of the request. */
  holds: Hold[];
}
export interface HeldSeat {
  passReference: PassReference;
  /** held: the seat is kept until the hold expires. To keep it longer, confirm the registration. reserved: the seat is taken, and finalization follows. confirmed: finalized. failed: finalization failed, and the seat stays taken. cancelled: the seat was released. */
  state: 'held' | 'reserved' | 'confirmed' | 'cancelled' | 'failed';
  /** Id of the ticket. */
  organizedEventTicketID: number;
}
export interface Hold {
  /** The reference of the hold, a UUID */
  holdReference: string;
  /** Your own reference. null: you sent none. */
  partnerReference: string | null;
  /** held: a seat waits for its attendee. confirmed: the hold is confirmed. cancelled: all seats were released, or the hold expired. */
  state: 'held' | 'confirmed' | 'cancelled';
  /** Time at which the held seats are released unless you confirm the hold. null: no seat is held. */
  dateExpires: string | null;
  /** The seats, in the order of the request. */
  seats: HeldSeat[];
}
/** The attendees: either `attendees` or `contact`. Unknown fields are ignored. */
export interface HoldConfirmation {
  /** The attendees, at most 100: one for each held seat, in the order of the hold */
  attendees?: Attendee[];
  contact?: Attendee;
}
export interface HoldList {
  /** The holds, the newest first, at most 10. */
  holds: Hold[];
}
/** The seats to release. Unknown fields are ignored. */
export interface HoldRelease {
  /** Optional, at most 100 pass references of the seats to release. Default: all seats */
  passReferences?: PassReference[];
}
/** The seats to hold. Unknown fields are ignored. */
export interface HoldRequest {
  /** Required, the tickets with their number of seats, together at most 100 */
  tickets: {
    /** Required, a whole number from 1 to 2147483647, the id of a ticket from Get Tickets */
    organizedEventTicketID: number;
    /** Required, a whole number from 1 to 100, the number of seats of this ticket */
    seats: number;
  }[];
  /** Optional, your own reference such as an order number: 1 to 64 characters, no control or text direction characters. Several registrations may have the same */
  partnerReference?: string | null;
}
export interface LaunchState {
  /** scheduled: no ticket is on sale yet. open: seats are left. soldOut: the tickets on sale have no seats left. closed: no ticket is on sale any more. */
  phase: 'scheduled' | 'open' | 'soldOut' | 'closed';
  /** Opening time of the first sale. null: a ticket has no opening time. */
  opensAt: string | null;
  /** End of the last sale. null: the sale of a ticket has no end. */
  closesAt: string | null;
  /** Current time of the service. Sales open and close by this clock. */
  serverTime: string;
  /** Seats left on all tickets whose sale has not ended. At most 1 second old. */
  seatsLeft: number;
}
/** The seats to add. A hold has at most 100. Unknown fields are ignored. */
export interface MoreSeats {
  /** Required, the tickets with their number of seats, together at most 100 */
  tickets: {
    /** Required, a whole number from 1 to 2147483647, the id of a ticket from Get Tickets */
    organizedEventTicketID: number;
    /** Required, a whole number from 1 to 100, the number of seats of this ticket */
    seats: number;
  }[];
}
/** The holds with their attendees. Unknown fields are ignored. */
export interface OrderConfirmation {
  /** Required, 1 to 10 holds, each once, with either `attendees` or `contact` */
  holds: {
    /** Required, the reference of a hold, a UUID */
    holdReference: string;
    /** The attendees, at most 100: one for each held seat, in the order of the hold */
    attendees?: Attendee[];
    contact?: Attendee;
  }[];
}
/** Pass reference of the attendee. Treat it as opaque. */
export type PassReference = string;
export interface RegistrationEntry extends RegistrationStatus {
  /** Your own reference. null: you sent none. Sent only if you ask for it with `include`. */
  partnerReference?: string | null;
}
export interface RegistrationList {
  /** The entries, oldest change first. */
  registrations: RegistrationEntry[];
  /** Send it as `after` to get the next page, now or later. Treat it as opaque. */
  cursor: string;
  /** Whether the next page is available now. A page can be short or empty even if this is true. */
  more: boolean;
}
/** The attendee and the ticket. Unknown fields are ignored. */
export interface RegistrationRequest extends Attendee {
  /** Required, a whole number from 1 to 2147483647, the id of a ticket from Get Tickets */
  organizedEventTicketID: number;
  /** Optional, your own reference such as an order number: 1 to 64 characters, no control or text direction characters. Several registrations may have the same */
  partnerReference?: string | null;
}
export interface RegistrationStatus {
  passReference: PassReference;
  /** held: the seat is kept until the hold expires. To keep it longer, confirm the registration. reserved: the seat is taken, and finalization follows. confirmed: finalized. failed: finalization failed, and the seat stays taken. cancelled: the seat was released. */
  state: 'held' | 'reserved' | 'confirmed' | 'cancelled' | 'failed';
  /** Id of the event. */
  organizedEventID: number;
  /** Id of the ticket. */
  organizedEventTicketID: number;
  /** Ticket name. */
  ticketTitle: string;
  /** Time of the reservation. */
  dateReserved: string;
  /** Time at which finalization confirmed the registration or failed. null: not finalized. */
  dateFinalized: string | null;
  /** Time of the cancellation. null: not cancelled. */
  dateCancelled: string | null;
}
export interface RevokedPasses {
  /** A JWS (RFC 7515, compact, EdDSA). Its payload is JSON with `event`, `partner`, `after`, `cursor`, `more`, `serials` and `at`. */
  revocations: string;
  /** Send it as `after` to get the next page, now or later. Treat it as opaque. */
  cursor: string;
  /** Whether the next page is available now. A page can be short or empty even if this is true. */
  more: boolean;
}
export interface SignedEvent {
  /** A JWS (RFC 7515, compact, EdDSA). Its payload is JSON with `event`, `eventRef`, `revision`, `name`, `venue`, `timeZone`, `startsAt`, `endsAt`, `validFrom`, `validUntil` and `at`. */
  event: string;
  /** Increases with every change to the event. */
  revision: number;
}
export interface TestEventReset {
  /** Number of registrations that this call cancelled. */
  cancelled: number;
  /** Whether registrations are left to cancel. If true, repeat the call. */
  more: boolean;
}
export interface Ticket {
  /** Id of the ticket. Send it as organizedEventTicketID to register. */
  id: number;
  /** Ticket name. */
  ticketTitle: string;
  /** Price as a decimal number, in the currency that you agreed on with the operator. The API does not name it. */
  ticketPrice: number;
  /** Description of the benefits. */
  ticketBenefits: string;
  /** Whether the ticket is active. */
  activeStatus: boolean;
  /** Id of the event that the ticket belongs to. */
  organizedEventID: number;
  /** Always null. */
  organizedEvent: null;
  /** Number of seats left. */
  count: number;
  /** Creation time of the ticket. */
  dateCreated: string;
  /** Id of the creator. */
  createdBy: number;
  /** The actor that last modified the ticket. */
  lastModifiedBy: string;
  /** Time of the last modification. */
  lastModifiedDate: string;
}
/** Required, the person who waits. You name the attendees when you confirm the offer. */
export interface WaitingContact {
  /** Required, 1 to 255 characters after trimming, one of them visible, no control or text direction characters inside */
  fullName: string;
  /** Required, an e-mail address of at most 254 characters, with only ASCII before the @ and a dot in the domain after it */
  emailAddress: string;
}
export interface WaitingEntry {
  /** The reference of the entry. While the state is offered, it is also the reference of the hold: Confirm Hold accepts the offer. */
  entry: string;
  /** Id of the ticket. */
  organizedEventTicketID: number;
  /** Number of seats. */
  seats: number;
  /** Your own reference. null: you sent none. */
  partnerReference: string | null;
  /** waiting: no offer yet. offered: seats are held until dateExpires. confirmed: the offer was accepted. expired: the offer was not accepted in time, its seats were cancelled, or the list was closed. left: you left the list or declined the offer. */
  state: 'waiting' | 'offered' | 'confirmed' | 'expired' | 'left';
  /** Place in the list of those who wait for this ticket, from 1. 1001: further back than place 1,000. null: the entry does not wait. */
  position: number | null;
  /** How many later entries got an offer first, at most 1,000: because the free seats were too few for this entry, or because you held your share of the ticket. */
  skipped: number;
  /** Time at which the entry joined. */
  dateJoined: string;
  /** Time at which the offer expires. null: there is no open offer. */
  dateExpires: string | null;
}
/** An entry to put on the waiting list of a ticket. Unknown fields are ignored. */
export interface WaitingRequest {
  /** Required, a whole number from 1 to 2147483647, the id of a ticket from Get Tickets */
  organizedEventTicketID: number;
  /** The number of seats, a whole number from 1 to 10. Default: 1 */
  seats?: number;
  contact: WaitingContact;
  /** Optional, your own reference such as an order number: 1 to 64 characters, no control or text direction characters. Several registrations may have the same */
  partnerReference?: string | null;
}
export interface Webhook {
  /** Id of the webhook. */
  id: string;
  /** The https URL that receives the messages, at most 2048 characters, without user name and password */
  url: string;
  /** A note for yourself: at most 255 characters, no control characters */
  description: string;
  /** The types of entries to send, each at most once. Default: all types */
  types: WebhookEventType[];
  /** The maximum number of entries in one message, from 1 to 500. Default: 100. A message with several entries has at most 20 KiB */
  entriesPerMessage: number;
  /** Additional fields of each registration: `partnerReference`, your own reference. Default: none */
  include?: 'partnerReference'[];
  /** active: messages are sent. paused: you or the operator paused it. disabled: the service stopped it, see disabledReason. */
  state: 'active' | 'paused' | 'disabled';
  /** gone: the receiver answered 410. failing: no message could be delivered for five days. test_event: this service sends no messages for test events. null: the webhook is not disabled. */
  disabledReason: 'gone' | 'failing' | 'test_event' | null;
  /** Entries up to this cursor are delivered. List Registrations accepts it as `after`. */
  cursor: string;
  /** Consecutive failed attempts. Attempts with the outcome slowed do not count. */
  failures: number;
  /** Start of the current series of failed or slowed attempts. null: the last attempt succeeded. */
  dateFailing: string | null;
  /** Time of the next attempt. null: none is scheduled. */
  dateNextAttempt: string | null;
  /** Public key that verifies v1a signatures (Ed25519). It is not secret. */
  publicKey: string;
  /** Creation time of the webhook. */
  dateCreated: string;
}
/** A person was let in. admitted_again: although the pass was admitted before. List Admissions has all admissions of the pass. */
export interface WebhookAdmissionEntry {
  /** Type of the message or entry. */
  type: 'registration.admitted' | 'registration.admitted_again';
  passReference: PassReference;
  /** Id of the event. */
  organizedEventID: number;
  /** Id of the ticket. */
  organizedEventTicketID: number;
  /** Name of the gate. */
  gate: string;
  /** Time of the admission. */
  dateAdmitted: string;
  /** Time at which the service learned of the admission. */
  dateChanged: string;
}
export interface WebhookAttempt {
  /** The header webhook-id of the message. */
  messageId: string;
  /** The message has the entries after this cursor. null: a test message. */
  previousCursor: string | null;
  /** Cursor of the last entry in the message. null: a test message. */
  cursor: string | null;
  /** Number of entries in the message. */
  entries: number;
  /** End time of the attempt. */
  dateAttempted: string;
  /** Duration of the attempt in milliseconds. */
  milliseconds: number;
  /** delivered: the receiver answered 2xx. slowed: 429, 502, 503 or 504 with Retry-After. gone: 410. refused: another status. failed: no answer. stopped: the service was stopped during the attempt. */
  outcome: 'delivered' | 'slowed' | 'gone' | 'refused' | 'failed' | 'stopped';
  /** HTTP status of the answer. null: there was no answer. */
  httpStatus: number | null;
  /** Error code if there was no answer, such as TIMEOUT, ECONNREFUSED or FORBIDDEN_ADDRESS. Otherwise null. */
  error: string | null;
}
/** The attempts, latest first. */
export type WebhookAttempts = WebhookAttempt[];
export interface WebhookChange {
  /** The https URL that receives the messages, at most 2048 characters, without user name and password */
  url?: string;
  /** A note for yourself: at most 255 characters, no control characters */
  description?: string;
  /** The types of entries to send, each at most once. Default: all types */
  types?: WebhookEventType[];
  /** The maximum number of entries in one message, from 1 to 500. Default: 100. A message with several entries has at most 20 KiB */
  entriesPerMessage?: number;
  /** Additional fields of each registration: `partnerReference`, your own reference. Default: none */
  include?: 'partnerReference'[];
}
export interface WebhookChanges {
  /** Type of the message or entry. */
  type: 'event.changes';
  /** Time of the last entry. */
  timestamp: string;
  data: {
    /** Reference of the event. */
    eventRef: string;
    /** Cursor of the previous message. If it differs from the last cursor that you received, a message is missing. */
    previousCursor: string;
    /** Cursor of the last entry. List Registrations accepts it as `after`. */
    cursor: string;
    /** The entries, oldest first. */
    entries: (WebhookRegistrationEntry | WebhookAdmissionEntry | WebhookTicketEntry | WebhookWaitingEntry)[];
  };
}
/** The webhooks, oldest first. */
export type WebhookList = Webhook[];
/** The registration after the change. */
export interface WebhookRegistrationEntry extends RegistrationEntry {
  /** Type of the message or entry. */
  type: 'registration.confirmed' | 'registration.cancelled' | 'registration.failed';
}
export interface WebhookRequest extends WebhookChange {
  /** Required. The https URL that receives the messages, at most 2048 characters, without user name and password */
  url: string;
  /** First entry to send. start (default): the oldest entry that is kept. now: the next entry */
  from?: 'start' | 'now';
  /** true: no message is sent until you resume the webhook, so you can configure the secret in your receiver first. Default: false */
  paused?: boolean;
}
export interface WebhookTest {
  /** The header webhook-id of the test message. List Attempts shows its outcome. */
  messageId: string;
}
export interface WebhookTestMessage {
  /** Type of the message or entry. */
  type: 'webhook.test';
  /** Time of the test request. */
  timestamp: string;
  data: {
    /** Reference of the event. */
    eventRef: string;
  };
}
/** A change to a ticket. */
export interface WebhookTicketEntry {
  /** Type of the message or entry. */
  type: 'ticket.sold_out' | 'ticket.reopened';
  /** Id of the event. */
  organizedEventID: number;
  /** Id of the ticket. */
  organizedEventTicketID: number;
  /** Time of the change. */
  dateChanged: string;
}
/** A change to an entry of a waiting list. Leaving has no entry. */
export interface WebhookWaitingEntry {
  /** Type of the message or entry. */
  type: 'waiting.joined' | 'waiting.offered' | 'waiting.expired' | 'waiting.confirmed';
  /** Reference of the entry. It is also the reference of the hold that is its offer. */
  entry: string;
  /** Id of the event. */
  organizedEventID: number;
  /** Id of the ticket. */
  organizedEventTicketID: number;
  /** Number of seats. */
  seats: number;
  /** Your own reference. null: you sent none. */
  partnerReference: string | null;
  /** Time at which the offer expires or expired. null: it has had no offer. */
  dateExpires: string | null;
  /** Time of the change. */
  dateChanged: string;
}
export interface WebhookWithSecret extends Webhook {
  /** Secret that verifies v1 signatures (HMAC). Store it now: it is not shown again. */
  secret: string;
}
