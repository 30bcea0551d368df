import type { BULK_ITEM_FAILURES, FailureOf, Operation, OperationData } from './contract.ts';
import type { DATA_FIELDS } from './read-answer.ts';

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
      /** On code 11: the first invalid fields, 50 at most. */ invalidFields?: readonly InvalidField[];
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

export interface UnknownRegistration extends Undecided<RegisterResult> {}
export interface UnknownBulk extends Undecided<BulkResult> {}

/** The client retries these until the change is decided, so no result has them. */
type UndecidedCode = '41' | '91' | '99';
type IsRead<Name> = Name extends `get${string}` | `list${string}` ? true : false;
type Failures<Name extends Operation> =
  IsRead<Name> extends true ? FailureOf<Name> : Exclude<FailureOf<Name>, UndecidedCode>;
type Data<Name extends Operation> = Name extends 'registerInBulk' ? BulkItemResult[] : OperationData[Name];
type UnknownOf<Name extends Operation> = Name extends 'registerForEvent'
  ? UnknownRegistration
  : Name extends 'registerInBulk'
    ? UnknownBulk
    : Unanswered;

/**
 * The result of an operation: `ResultOf<'cancelRegistration'>`. If a change is `unknown`, call it again. The exceptions are
 * `createWebhook` and `rotateWebhookSecret`, which are not idempotent: list the webhooks first.
 */
export type ResultOf<Name extends Operation> =
  | (Succeeded & { [Field in (typeof DATA_FIELDS)[Name]]: Data<Name> })
  | Refused<Failures<Name>>
  | Other
  | UnknownOf<Name>;

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
