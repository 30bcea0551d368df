import type * as Contract from './contract.ts';
import type { BULK_ITEM_FAILURES, FailureOf, Operation, PassReference, Webhook } from './contract.ts';

/** The data of a successful operation, with its name in the result. */
export interface OperationResults {
  registerForEvent: { passReference: PassReference };
  registerInBulk: { registrations: BulkItemResult[] };
  getRegistration: { registration: Contract.RegistrationStatus };
  confirmRegistration: { passReference: PassReference };
  cancelRegistration: { passReference: PassReference };
  cancelRegistrations: { cancelled: Contract.CancelledRegistrations };
  holdSeats: { hold: Contract.Hold };
  getHold: { hold: Contract.Hold };
  findHolds: { holds: Contract.HoldList };
  addSeats: { hold: Contract.Hold };
  confirmHold: { hold: Contract.Hold };
  confirmHolds: { holds: Contract.ConfirmedHolds };
  extendHold: { hold: Contract.Hold };
  releaseHold: { hold: Contract.Hold };
  joinWaitingList: { waitingEntry: Contract.WaitingEntry };
  getWaitingEntry: { waitingEntry: Contract.WaitingEntry };
  leaveWaitingList: { waitingEntry: Contract.WaitingEntry };
  changeAttendee: { passReference: PassReference };
  resetTestEvent: { reset: Contract.TestEventReset };
  listRegistrations: { page: Contract.RegistrationList };
  getTickets: { tickets: Contract.Ticket[] };
  getLaunch: { launch: Contract.LaunchState };
  listAdmissions: { admissions: Contract.AdmissionList };
  getPass: { pass: Contract.AttendeePass };
  getSignedEvent: { signedEvent: Contract.SignedEvent };
  listRevokedPasses: { page: Contract.RevokedPasses };
  listWebhooks: { webhooks: Contract.WebhookList };
  createWebhook: { webhook: Contract.WebhookWithSecret };
  getWebhook: { webhook: Webhook };
  changeWebhook: { webhook: Webhook };
  pauseWebhook: { webhook: Webhook };
  resumeWebhook: { webhook: Webhook };
  deleteWebhook: { webhook: Webhook };
  testWebhook: { test: Contract.WebhookTest };
  rotateWebhookSecret: { webhook: Contract.WebhookWithSecret };
  replayWebhook: { webhook: Webhook };
  listWebhookAttempts: { attempts: Contract.WebhookAttempts };
}

/** A field of a request, and the rule that it breaks. */
export interface InvalidField {
  /** Such as `emailAddress`, `registrations/3/emailAddress` or `header/hold-for`. */
  field: string;
  /** Such as `required`, `type`, `maxLength` or `format`. */
  rule: string;
}

/** Fields of every answer. */
export interface Answered {
  /** Human-readable message. */
  message: string;
  /** Include it when you contact the operator. */
  requestId: string | null;
}

/** The request succeeded. */
export interface Succeeded extends Answered {
  code: '00';
}

/** The request failed. The union has one member for each code, so that a `switch` can be exhaustive. */
export type Refused<Code extends string> = Code extends string
  ? Answered & {
      code: Code;
      /** On code 11, and on 33 of `holds.confirm`: the first invalid fields, 50 at most. */
      invalidFields?: readonly InvalidField[];
    }
  : never;

/** An unknown answer: a newer code (`responseCode`), or an answer that does not come from the service (null). */
export interface Other extends Answered {
  code: 'other';
  responseCode: string | null;
  /** The HTTP status. */
  status: number;
}

/**
 * No final answer in time. The service may have made the change. A repetition is safe, except as described at
 * `ResultOf`.
 */
export interface Unanswered {
  code: 'unknown';
  /** The last failure, such as ECONNREFUSED. */
  reason: string;
  /** Of the last attempt that the service answered. Include it when you contact the operator. */
  requestId: string | null;
}

/** No final answer in time. The attendee may be registered or not. */
interface Undecided<Result> extends Unanswered {
  /** The key of the call. In an automatic bulk call it is the key of all its registrations. */
  idempotencyKey: string;
  /** Sends the same request with the same key again. Never registers twice. */
  askAgain(): Promise<Result>;
}

/** The client retries 41, 91 and 99 until it knows the outcome, so no result of a change has them. */
type Failures<Name extends Operation> = Name extends `${'get' | 'list'}${string}`
  ? FailureOf<Name>
  : Exclude<FailureOf<Name>, '41' | '91' | '99'>;

/**
 * The result of an operation: `ResultOf<'cancelRegistration'>`. If a change is `unknown`, call it again. The
 * exceptions are `createWebhook` and `rotateWebhookSecret`, which are not idempotent: list the webhooks
 * first.
 */
export type ResultOf<Name extends Operation> =
  | (Succeeded & OperationResults[Name])
  | Refused<Failures<Name>>
  | Other
  | (Name extends `register${string}` ? Undecided<ResultOf<Name>> : Unanswered);

/** The result of one registration. On "00" the seat is safely stored. */
export type RegisterResult = ResultOf<'registerForEvent'>;
/** The result of one registration of a bulk call. */
export type BulkItemResult =
  (Succeeded & { passReference: string }) | Refused<(typeof BULK_ITEM_FAILURES)[number]> | Other;
/** The result of a bulk call. On "00" it has the result of each registration, in order. */
export type BulkResult = ResultOf<'registerInBulk'>;
/** The bytes of a PNG or SVG file. */
export type PassPictureResult =
  Exclude<ResultOf<'getPass'>, { code: '00' }> | (Succeeded & { picture: Uint8Array });

/** The changes to registrations up to now, in order. */
export interface RegistrationListing extends AsyncIterable<Contract.RegistrationEntry> {
  /** Continue after this cursor later. The caller has consumed every entry up to it. */
  readonly cursor: string | undefined;
  /** The same changes in pages, each with its cursor. Save both together to process each entry once. */
  pages(): AsyncGenerator<Contract.RegistrationList, void, undefined>;
}

/** The public keys from /.well-known/floodgate/pass-keys.json. */
export interface PassKeySet {
  keys: readonly { kid: string; x: string }[];
}

/** The content of a verified event document. Null: the operator has not set the field. */
export interface EventDocument {
  event: number;
  eventRef: string;
  /** Increases with every change to the event. */
  revision: number;
  name: string;
  venue: string | null;
  timeZone: string | null;
  startsAt: string | null;
  endsAt: string | null;
  /** Passes are valid from `validFrom` to `validUntil`. */
  validFrom: string | null;
  validUntil: string | null;
  /** Time at which the service read the event. */
  at: string;
}

/** The current event, verified. */
export interface VerifiedEvent extends EventDocument {
  /** For `verifyPass`. */
  document: string;
}

/** The content of all verified revocation pages. */
export interface Revocations {
  eventId: number;
  partnerId: number | null;
  serials: ReadonlySet<number>;
  /** The cursor of the last page. */
  cursor: string;
  /** Time of the last page. */
  at: Date;
}

/** The complete list of the partner's revoked passes, verified. */
export interface RevocationList extends Revocations {
  /** For `verifyPass`, and to continue in a later call. */
  pages: string[];
}

type DocumentFault = 'malformed' | 'unknown-key' | 'forged' | 'other-event' | 'stale';
/** Fault of a signed event. No pass is valid until the document is replaced. */
export type EventFault = `event-${DocumentFault}`;
/** Fault of the revocation pages. `incomplete`: a page is missing at the start, in between or at the end. */
export type RevocationsFault = `revocations-${DocumentFault | 'other-partner' | 'incomplete'}`;
