import type {
  AttendeePass,
  BULK_ITEM_FAILURES,
  FailureOf,
  LaunchState,
  Operation,
  RegistrationList,
  RegistrationStatus,
  RevokedPasses,
  TestEventReset,
  Ticket,
  Webhook,
  WebhookAttempt,
  WebhookWithSecret,
} from './contract.ts';

/** A field of a request, and the rule that it breaks. */
export interface InvalidField {
  /** As `emailAddress`, `registrations/3/emailAddress` or `header/hold-for`. */
  field: string;
  /** As `required`, `type`, `maxLength` or `format`. */
  rule: string;
}

/** What every answer of the service tells. */
export interface Answered {
  /** Says what is wrong, in words for a person. */
  message: string;
  /** Quote it when you ask the operator. */
  requestId: string | null;
}

/** The service did what was asked for. */
export interface Succeeded extends Answered {
  code: '00';
}

/** The service did not. One member for each code, so that a `switch` tells them apart. */
export type Refused<Code extends string> = Code extends string ? Answered & Detailed & { code: Code } : never;

/** What code 11 lists for programs: the first invalid fields, 50 at most. */
interface Detailed {
  invalidFields?: readonly InvalidField[];
}

/** An answer that this version does not know: a newer code (`responseCode`), or one that is not the service's (null). */
export interface Other extends Answered {
  code: 'other';
  responseCode: string | null;
  /** Of HTTP. */
  status: number;
}

/** No answer in time, to a question that changes nothing. */
export interface Unanswered {
  code: 'unknown';
  /** What came instead of the answer, such as ECONNREFUSED. */
  reason: string;
}

/** No final answer in time: it may have been carried out, or not. */
interface Undecided extends Unanswered {
  /** That of the call which was made: in a gathered call it stands for all that were in it. */
  idempotencyKey: string;
}

export interface UnknownRegistration extends Undecided {
  /** Asks once more, with the same key and the same request: never registers twice. */
  askAgain(): Promise<RegisterResult>;
}

export interface UnknownBulk extends Undecided {
  /** Asks once more, with the same key and the same requests: never registers twice. */
  askAgain(): Promise<BulkResult>;
}

/** What an operation that changes something may be refused with: as long as it is not decided, the client asks again. */
type RefusedFor<Name extends Operation> = Refused<Exclude<FailureOf<Name>, '41' | '91' | '99'>>;

/** The seat is stored, and nobody takes it back. */
export interface Registered extends Succeeded {
  passReference: string;
}

/** What became of one registration. */
export type RegisterResult = Registered | RefusedFor<'registerForEvent'> | Other | UnknownRegistration;

/** What became of one registration of a bulk call. */
export type BulkItemResult = Registered | Refused<(typeof BULK_ITEM_FAILURES)[number]> | Other;

/** What became of a bulk call. On "00" each of its registrations is answered in its place. */
export type BulkResult =
  (Succeeded & { registrations: BulkItemResult[] }) | RefusedFor<'registerInBulk'> | Other | UnknownBulk;

/** What became of a question that changes nothing. */
type ReadResult<Name extends Operation, Data> =
  (Succeeded & Data) | Refused<FailureOf<Name>> | Other | Unanswered;

export type RegistrationResult = ReadResult<'getRegistration', { registration: RegistrationStatus }>;
export type TicketsResult = ReadResult<'getTickets', { tickets: Ticket[] }>;
export type RegistrationListResult = ReadResult<'listRegistrations', { page: RegistrationList }>;
export type LaunchResult = ReadResult<'getLaunch', { launch: LaunchState }>;

/** What became of a change that has no key. */
type ChangeResult<Name extends Operation, Data> = (Succeeded & Data) | RefusedFor<Name> | Other | Unanswered;

/** Cancelling, confirming and resetting are idempotent by themselves: if the outcome is unknown, ask again. */
export type CancelResult = ChangeResult<'cancelRegistration', { passReference: string }>;
export type ConfirmResult = ChangeResult<'confirmRegistration', { passReference: string }>;
export type ResetResult = ChangeResult<'resetTestEvent', { reset: TestEventReset }>;

export type PassResult = ReadResult<'getPass', { pass: AttendeePass }>;
/** The bytes of a PNG or SVG file. */
export type PassPictureResult = ReadResult<'getPass', { picture: Uint8Array }>;
export type RevokedPassesResult = ReadResult<'listRevokedPasses', { page: RevokedPasses }>;

export type WebhookListResult = ReadResult<'listWebhooks', { webhooks: Webhook[] }>;
export type WebhookResult = ReadResult<'getWebhook', { webhook: Webhook }>;
export type WebhookAttemptsResult = ReadResult<'listWebhookAttempts', { attempts: WebhookAttempt[] }>;
export type WebhookChangeResult = ChangeResult<'changeWebhook', { webhook: Webhook }>;
export type WebhookTestResult = ChangeResult<'testWebhook', { test: { messageId: string } }>;
/** Not repeated after a lost answer. If it is `unknown`, look at the list of webhooks before you try again. */
export type WebhookCreationResult = ChangeResult<'createWebhook', { webhook: WebhookWithSecret }>;
export type WebhookRotationResult = ChangeResult<'rotateWebhookSecret', { webhook: WebhookWithSecret }>;
