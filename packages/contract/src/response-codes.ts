/** What a response code means, wherever it is answered, documented or tested. */
export interface ResponseCodeEntry {
  /** HTTP statuses the code travels with; the first is the default. */
  readonly httpStatuses: readonly [number, ...number[]];
  /** Where nothing more specific is known. */
  readonly message: string;
  /** For the reference documentation. */
  readonly meaning: string;
  /** Whether the same request may succeed later without being changed; else it may not. */
  readonly retryable?: true;
  /** Seconds for the Retry-After header; only on codes that tell when to come back. */
  readonly retryAfterSeconds?: number;
}

const CATALOGUE = {
  '00': {
    httpStatuses: [200],
    message: 'Successful',
    meaning: 'The request succeeded. On register: the seat and the pass reference are safely stored.',
  },
  '10': {
    httpStatuses: [400, 413, 415, 431],
    message: 'The request is not well-formed',
    meaning:
      'Malformed HTTP, a body that is not JSON, larger than the operation takes or of another type, or headers too large.',
  },
  '11': {
    httpStatuses: [422],
    message: 'The request has invalid fields',
    meaning: 'The body is not an object, or fields are invalid. The message names every field that is wrong.',
  },
  '12': {
    httpStatuses: [400],
    message: 'x-event-ref is missing or not a UUID',
    meaning: 'The x-event-ref header is missing or not a UUID.',
  },
  '20': {
    httpStatuses: [401],
    message: 'x-secret-key is not valid',
    meaning: 'The x-secret-key header is missing, unknown, expired or revoked.',
  },
  '21': {
    httpStatuses: [404],
    message: 'No such event',
    meaning: 'No event with this x-event-ref is open to this key.',
  },
  '30': {
    httpStatuses: [404],
    message: 'No such ticket under this event',
    meaning: 'organizedEventTicketID names no ticket of the event.',
  },
  '31': {
    httpStatuses: [409],
    message: 'The ticket is not on sale',
    meaning: 'The ticket is inactive, or the time is outside its sales window.',
  },
  '32': {
    httpStatuses: [409],
    message: 'The ticket is sold out',
    meaning: 'No seats are left on the ticket.',
  },
  '33': {
    httpStatuses: [409],
    message: 'This e-mail address is already registered for the event',
    meaning: 'The event allows one registration per e-mail address, and this address has one.',
  },
  '34': {
    httpStatuses: [404],
    message: 'No such registration',
    meaning: 'No registration of yours under this event has this pass reference.',
  },
  '36': {
    httpStatuses: [409],
    message: 'Not registered: another one of the group was refused',
    meaning: 'All or none was asked for, and another registration of the call was refused.',
  },
  '40': {
    httpStatuses: [422],
    message: 'The Idempotency-Key was used with a different request',
    meaning: 'This Idempotency-Key was used in the last 24 hours with a different request.',
  },
  '41': {
    httpStatuses: [409],
    message: 'A request with this Idempotency-Key is in progress',
    meaning: 'Another request with this Idempotency-Key has not been answered yet.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '50': {
    httpStatuses: [429],
    message: 'Too many requests',
    meaning: 'The rate limit is exceeded.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '60': {
    httpStatuses: [404, 405],
    message: 'No such route',
    meaning: 'No such path, or the path does not answer this method.',
  },
  '90': {
    httpStatuses: [503],
    message: 'The service is overloaded; nothing was reserved',
    meaning: 'Overloaded, or a dependency is down. Nothing was reserved.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '91': {
    httpStatuses: [503],
    message: 'The outcome is unknown; retry with the same Idempotency-Key',
    meaning: 'The outcome is unknown. A retry with the same Idempotency-Key is safe.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '99': {
    httpStatuses: [500],
    message: 'Unexpected error',
    meaning: 'Unexpected error, logged under the x-request-id of the answer.',
    retryable: true,
  },
} as const satisfies Record<string, ResponseCodeEntry>;

export type ResponseCode = keyof typeof CATALOGUE;
export type FailureCode = Exclude<ResponseCode, '00'>;

/** Every response code that an answer below /api/ may carry. */
export const RESPONSE_CODES: Record<ResponseCode, ResponseCodeEntry> = CATALOGUE;

/** What any operation of a partner may answer: decided before its handler, or failing around it. */
export const COMMON_FAILURES: FailureCode[] = ['10', '12', '20', '21', '50', '90', '99'];
