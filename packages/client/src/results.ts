import type * as Contract from './contract.ts';
import type { BULK_ITEM_FAILURES, FailureOf, Operation, PassReference, Webhook } from './contract.ts';

/** The data of a success, by its name in the result. */
export interface OperationResults {
  registerForEvent: { passReference: PassReference };
  registerInBulk: { registrations: BulkItemResult[] };
  getRegistration: { registration: Contract.RegistrationStatus };
  confirmRegistration: { passReference: PassReference };
  cancelRegistration: { passReference: PassReference };
  resetTestEvent: { reset: Contract.TestEventReset };
  listRegistrations: { page: Contract.RegistrationList };
  getTickets: { tickets: Contract.Ticket[] };
  getLaunch: { launch: Contract.LaunchState };
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
  /** As `emailAddress`, `registrations/3/emailAddress` or `header/hold-for`. */
  field: string;
  /** As `required`, `type`, `maxLength` or `format`. */
  rule: string;
}

/** Part of every answer of the service. */
export interface Answered {
  /** Says what is wrong, for a person. */
  message: string;
  /** Quote it when you ask the operator. */
  requestId: string | null;
}

/** The request succeeded. */
export interface Succeeded extends Answered {
  code: '00';
}

/** The request failed. One member for each code, so that a `switch` can tell them apart. */
export type Refused<Code extends string> = Code extends string
  ? Answered & {
      code: Code;
      /** On code 11: the first invalid fields, 50 at most. */
      invalidFields?: readonly InvalidField[];
    }
  : never;

/** An unknown answer: a newer code (`responseCode`), or an answer that is not the service's (null). */
export interface Other extends Answered {
  code: 'other';
  responseCode: string | null;
  /** The HTTP status. */
  status: number;
}

/** No final answer in time. A change without an Idempotency-Key may have been carried out: it is safe to repeat, see `ResultOf`. */
export interface Unanswered {
  code: 'unknown';
  /** The last failure, such as ECONNREFUSED. */
  reason: string;
}

/** No final answer in time: the registration may have been carried out, or not. */
interface Undecided<Result> extends Unanswered {
  /** The key of the call. In an automatic bulk call it is the key of all its registrations. */
  idempotencyKey: string;
  /** Sends the same request with the same key again: never registers twice. */
  askAgain(): Promise<Result>;
}

export type UnknownRegistration = Undecided<RegisterResult>;
export type UnknownBulk = Undecided<BulkResult>;

/** The client retries these until the change is decided, so no result of a change has them. */
type UndecidedCode = '41' | '91' | '99';
type Failures<Name extends Operation> = Name extends `${'get' | 'list'}${string}`
  ? FailureOf<Name>
  : Exclude<FailureOf<Name>, UndecidedCode>;

/**
 * The result of an operation: `ResultOf<'cancelRegistration'>`. If a change is `unknown`, call it again. The exceptions are
 * `createWebhook` and `rotateWebhookSecret`, which are not idempotent: list the webhooks first.
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

/** The changes of registrations up to now, in order. */
export interface RegistrationListing extends AsyncIterable<Contract.RegistrationStatus> {
  /** Continue here later: the caller has consumed every entry before it. */
  readonly cursor: string | undefined;
  /** The same in pages, each with its cursor. Save both together, and no entry comes twice. */
  pages(): AsyncGenerator<Contract.RegistrationList, void, undefined>;
}

/** The public keys as /.well-known/floodgate/pass-keys.json has them. */
export interface PassKeySet {
  keys: readonly { kid: string; x: string }[];
}

/** The content of a verified event document. Null: the operator has not set it. */
export interface EventDocument {
  event: number;
  eventRef: string;
  /** Rises with every change of the event. */
  revision: number;
  name: string;
  venue: string | null;
  timeZone: string | null;
  startsAt: string | null;
  endsAt: string | null;
  /** When doors admit. */
  validFrom: string | null;
  validUntil: string | null;
  /** When the event was read. */
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
  /** When the last page was made. */
  at: Date;
}

/** The complete list of the partner's revoked passes, verified. */
export interface RevocationList extends Revocations {
  /** For `verifyPass`, and to continue in a later call. */
  pages: string[];
}

type DocumentFault = 'malformed' | 'unknown-key' | 'forged' | 'other-event' | 'stale';
/** Why the signed event cannot be used. No pass is valid until it is fetched again. */
export type EventFault = `event-${DocumentFault}`;
/** Why the revocation pages cannot be used. `incomplete`: a page is missing at the start, in between or at the end. */
export type RevocationsFault = `revocations-${DocumentFault | 'other-partner' | 'incomplete'}`;
