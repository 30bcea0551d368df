/** What a response code means, wherever it is answered, documented or tested. */
export interface ResponseCodeEntry {
  /** HTTP statuses the code travels with; the first is the default. */
  readonly httpStatuses: readonly [number, ...number[]];
  /** Where nothing more specific is known. */
  readonly message: string;
  /** For the reference documentation. */
  readonly meaning: string;
  /** What a caller does about it. */
  readonly remedy: string;
  /** Whether the same request may succeed later without being changed; else it may not. */
  readonly retryable?: true;
  /** The least that the Retry-After header says; only on codes that tell when to come back. */
  readonly retryAfterSeconds?: number;
}

const CATALOGUE = {
  '00': {
    httpStatuses: [200],
    message: 'Successful',
    meaning: 'The request succeeded. On register: the seat and the pass reference are safely stored.',
    remedy: 'Nothing. Keep what was answered.',
  },
  '10': {
    httpStatuses: [400, 413, 415, 431],
    message: 'The request is not well-formed',
    meaning:
      'Malformed HTTP, a body that is not JSON, larger than the operation takes or of another type, or headers too large.',
    remedy:
      'Mend the request: JSON in UTF-8, sent as application/json, uncompressed and not too large. The message says what it was.',
  },
  '11': {
    httpStatuses: [422],
    message: 'The request has invalid fields',
    meaning: 'The body is not an object, or fields are invalid. The message names every field that is wrong.',
    remedy: "Mend the fields that the message names. If people typed them, show them the message's words.",
  },
  '12': {
    httpStatuses: [400],
    message: 'x-event-ref is missing or not a UUID',
    meaning: 'The x-event-ref header is missing or not a UUID.',
    remedy: "Send the event's reference, the UUID that the operator gave you, as x-event-ref.",
  },
  '20': {
    httpStatuses: [401],
    message: 'x-secret-key is not valid',
    meaning: 'The x-secret-key header is missing, unknown, expired or revoked.',
    remedy: 'Check that the key is sent whole, as x-secret-key. If it is, ask the operator for a new one.',
  },
  '21': {
    httpStatuses: [404],
    message: 'No such event',
    meaning: 'No event with this x-event-ref is open to this key.',
    remedy: 'Check the reference. If it is right, ask the operator to grant the event to you.',
  },
  '30': {
    httpStatuses: [404],
    message: 'No such ticket under this event',
    meaning: 'organizedEventTicketID names no ticket of the event.',
    remedy: 'Ask Get Tickets for the ids of today, and send one of them.',
  },
  '31': {
    httpStatuses: [409],
    message: 'The ticket is not on sale',
    meaning: 'The ticket is inactive, or the time is outside its sales window.',
    remedy: 'Ask Get Launch when the sale opens, and come back then.',
  },
  '32': {
    httpStatuses: [409],
    message: 'The ticket is sold out',
    meaning: 'No seats are left on the ticket.',
    remedy: 'Offer another ticket of Get Tickets. A seat may come back when somebody cancels.',
  },
  '33': {
    httpStatuses: [409],
    message: 'This e-mail address is already registered for the event',
    meaning: 'The event allows one registration per e-mail address, and this address has one.',
    remedy: 'Tell the attendee that the place is theirs already. The first registration stands.',
  },
  '34': {
    httpStatuses: [404],
    message: 'No such registration',
    meaning: 'No registration of yours under this event has this pass reference.',
    remedy: 'Check that the pass reference is whole, and of the event that you name.',
  },
  '35': {
    httpStatuses: [409],
    message: "The registration's state does not allow this",
    meaning:
      'The time for it is over: that to cancel, or that for which the seat was held. Or a pass was asked for, and the ' +
      'registration is not confirmed.',
    remedy:
      'To cancel, ask the operator. For a seat that is gone, register the attendee anew. For a pass, wait until Get ' +
      'Registration says confirmed.',
  },
  '36': {
    httpStatuses: [409],
    message: 'Not registered: another one of the group was refused',
    meaning: 'All or none was asked for, and another registration of the call was refused.',
    remedy:
      'Nothing is wrong with this one. Mend or leave out those with another code, then send the group again with a new key.',
  },
  '40': {
    httpStatuses: [422],
    message: 'The Idempotency-Key was used with a different request',
    meaning: 'This Idempotency-Key was used in the last 24 hours with a different request.',
    remedy: 'Give each registration a key of its own, and send a retry as it was.',
  },
  '41': {
    httpStatuses: [409],
    message: 'A request with this Idempotency-Key is in progress',
    meaning: 'Another request with this Idempotency-Key has not been answered yet.',
    remedy: 'Wait for Retry-After, then send the same request with the same key.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '50': {
    httpStatuses: [429],
    message: 'Too many requests',
    meaning: 'The rate limit is exceeded.',
    remedy:
      'Wait for Retry-After, then send the same request. If it comes often, send fewer at once or ask for a higher limit.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '60': {
    httpStatuses: [404, 405],
    message: 'No such route',
    meaning: 'No such path, the path does not answer this method, or it is for test events only.',
    remedy: 'Check path and method. A 405 names the methods in its header Allow.',
  },
  '90': {
    httpStatuses: [503],
    message: 'The service is overloaded; nothing was reserved',
    meaning: 'Overloaded, or a dependency is down. Nothing was reserved.',
    remedy: 'Wait for Retry-After, then send the same request; double the wait each time.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '91': {
    httpStatuses: [503],
    message: 'The outcome is unknown; retry with the same Idempotency-Key',
    meaning: 'The outcome is unknown. A retry with the same Idempotency-Key is safe.',
    remedy:
      'Send the same request with the same Idempotency-Key until another code comes. Without a key, ask the operator before you retry.',
    retryable: true,
    retryAfterSeconds: 1,
  },
  '99': {
    httpStatuses: [500],
    message: 'Unexpected error',
    meaning: 'Unexpected error, logged under the x-request-id of the answer.',
    remedy:
      'Send the same request with the same Idempotency-Key. If it comes again, tell the operator the x-request-id.',
    retryable: true,
  },
} as const satisfies Record<string, ResponseCodeEntry>;

export type ResponseCode = keyof typeof CATALOGUE;
export type FailureCode = Exclude<ResponseCode, '00'>;

/** Every response code that an answer below /api/ may carry. */
export const RESPONSE_CODES: Record<ResponseCode, ResponseCodeEntry> = CATALOGUE;

/** What any operation of a partner may answer: decided before its handler, or failing around it. */
export const COMMON_FAILURES: FailureCode[] = ['10', '12', '20', '21', '50', '90', '99'];
