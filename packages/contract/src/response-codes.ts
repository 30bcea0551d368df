/** The meaning of a response code, for answers, documents and tests. */
export type ResponseCodeEntry = ReturnType<typeof entry>;

/** `httpStatuses`: the statuses of answers with the code, first the default. `message`: the default message. */
function entry(
  httpStatuses: readonly [number, ...number[]],
  message: string,
  more: {
    /** For the reference documentation. Default: the message. */
    meaning?: string;
    /** The action that the caller should take. */
    remedy: string;
    /** Minimum of the Retry-After header. 0: there is no such header, but the same request may succeed later. */
    retryAfterSeconds?: number;
  },
) {
  return { httpStatuses, message, meaning: `${message}.`, ...more };
}

/** Every response code of answers below /api/. */
export const RESPONSE_CODES = {
  '00': entry([200], 'Successful', {
    meaning: 'The request succeeded. On register: the seat and the pass reference are safely stored.',
    remedy: 'Nothing. Store the pass reference.',
  }),
  '10': entry([400, 413, 415, 431], 'The request is not well-formed', {
    meaning:
      'The HTTP request is malformed, the headers are too large, the URL is longer than 2,048 ' +
      'characters, or the body is too large, is not JSON or has another media type.',
    remedy:
      'Send JSON in UTF-8, uncompressed, as application/json, within the size limit. The message says what is wrong.',
  }),
  '11': entry([422], 'The request has invalid fields', {
    meaning: 'The body is not a JSON object, or has invalid fields. The message names every invalid field.',
    remedy:
      'Correct the invalid fields. To get them in machine-readable form, send the header X-Error-Details: json.',
  }),
  '12': entry([400], 'x-event-ref is missing or not a UUID', {
    remedy: 'Send the event reference, the UUID that the operator gave you, as x-event-ref.',
  }),
  '20': entry([401], 'x-secret-key is not valid', {
    meaning: 'The x-secret-key header is missing, unknown, expired or revoked.',
    remedy: 'Check that x-secret-key holds the complete key. If it does, ask the operator for a new key.',
  }),
  '21': entry([404], 'No such event', {
    meaning: 'This key has no access to an event with this x-event-ref.',
    remedy: 'Check the reference. If it is correct, ask the operator to grant you the event.',
  }),
  '30': entry([404], 'No such ticket under this event', {
    meaning: 'The event has no ticket with this organizedEventTicketID.',
    remedy: 'Call Get Tickets and send one of the ids that it lists.',
  }),
  '31': entry([409], 'The ticket is not on sale', {
    meaning: 'The ticket is inactive, or its sale has not started or has ended.',
    remedy: 'Call Get Launch to see when the sale opens, and register then.',
  }),
  '32': entry([409], 'The ticket is sold out', {
    meaning:
      'The ticket has too few seats that you can sell: the others are taken, held, reserved for other ' +
      'partners or kept for its ' +
      'waiting list, or you have sold as many as the operator lets you sell. The message says which.',
    remedy:
      'Offer another ticket from Get Tickets, or join the waiting list of this one. A cancellation can free a seat.',
  }),
  '33': entry([409], 'This e-mail address is already registered for the event', {
    meaning: 'The event allows only one registration per e-mail address.',
    remedy: 'Tell the attendee that they are already registered. The first registration is unchanged.',
  }),
  '34': entry([404], 'No such registration', {
    meaning:
      'Under this event you have no registration with this pass reference, no such hold, or no such ' +
      'entry of a waiting list.',
    remedy: 'Check that the reference is complete, is yours, and belongs to the event in x-event-ref.',
  }),
  '35': entry([409], "The registration's state does not allow this", {
    meaning:
      'The cancellation deadline has passed; the seat was admitted at the door; the attendee was ' +
      'changed; the hold or the entry of a ' +
      'waiting list has expired, was released or left, or is confirmed already; the registration is ' +
      'cancelled or still held; or a ' +
      'pass was requested for a registration that is not confirmed. The message names the state.',
    remedy:
      'To cancel after the deadline or after an admission, ask the operator. After a change of attendee, ' +
      'cancel the new registration. After a hold has expired, register the attendee or hold seats ' +
      'again. After an entry has expired, join again with another key. For a pass, wait until Get ' +
      'Registration answers confirmed.',
  }),
  '36': entry([409], 'Not registered: another registration of the call was refused', {
    meaning: 'The call had mode "all", and another registration in it was refused.',
    remedy:
      'This registration is valid. Correct or remove the registrations with another code, then send the ' +
      'call again with a new Idempotency-Key.',
  }),
  '37': entry([409], 'You already hold your maximum number of seats of this ticket', {
    meaning:
      'The call is Hold Seats or has the header Hold-For, and with it you would hold more than your ' +
      'share of the ticket: 20 % of its ' +
      'seats unless the operator has set another share or reserved more seats for you, and at least four ' +
      'seats. Open offers of its ' +
      'waiting list count as held. Or the call is Join Waiting List, and your entries wait for as many ' +
      'seats as the ticket has. ' +
      'The message says the limit.',
    remedy:
      'Confirm or cancel held registrations of this ticket, or release holds, then send the call again with a new ' +
      'Idempotency-Key. A registration without Hold-For has no such limit. For Join Waiting List, leave ' +
      'with other entries first.',
  }),
  '38': entry([409], 'The ticket is not sold out', {
    meaning: 'The ticket has free seats and nobody waits for it, so nobody can join its waiting list.',
    remedy: 'Register the attendee, or hold the seats.',
  }),
  '39': entry([409], 'The ticket has no open waiting list', {
    meaning: 'The operator has not opened a waiting list for the ticket, or has closed it.',
    remedy: 'Offer another ticket from Get Tickets.',
  }),
  '40': entry([422], 'The Idempotency-Key was used with a different request', {
    meaning: 'This Idempotency-Key was used in the last 24 hours with a different request.',
    remedy: 'Use a new key for each registration, and do not change the request when you retry it.',
  }),
  '41': entry([409], 'A request with this Idempotency-Key is in progress', {
    remedy: 'Wait for Retry-After, then send the same request with the same key.',
    retryAfterSeconds: 1,
  }),
  '50': entry([429], 'Too many requests', {
    meaning:
      'The rate limit is exceeded. Without Retry-After, the call is larger than the limit and can never pass.',
    remedy:
      'Wait for Retry-After, then send the same request. If this happens often, send fewer requests at ' +
      'once or ask for a higher limit. ' +
      'Without Retry-After, send smaller calls.',
    retryAfterSeconds: 1,
  }),
  '60': entry([404, 405], 'No such route', {
    meaning: 'The path does not exist, does not support this method, or is for test events only.',
    remedy:
      'Check the path and the method. If the status is 405, the header Allow lists the supported methods.',
  }),
  '70': entry([404], 'No such webhook', {
    meaning: 'You have no webhook with this id under this event.',
    remedy: 'Call List Webhooks for the ids of your webhooks.',
  }),
  '71': entry([409], 'You have ten webhooks under this event, which is the maximum', {
    remedy: 'Delete or change a webhook that you no longer need.',
  }),
  '72': entry([409], 'The operator has paused this webhook', {
    remedy: 'Only the operator can resume it. Ask the operator.',
  }),
  '90': entry([503], 'The service is overloaded; nothing was reserved', {
    meaning: 'The service is overloaded, or a dependency is down. Nothing was reserved.',
    remedy: 'Wait for Retry-After, then send the same request. Double the wait after each failure.',
    retryAfterSeconds: 1,
  }),
  '91': entry([503], 'The outcome is unknown; retry with the same Idempotency-Key', {
    remedy:
      'Send the same request with the same Idempotency-Key until you get another code. Without a key, ' +
      'ask the operator before you retry.',
    retryAfterSeconds: 1,
  }),
  '99': entry([500], 'Unexpected error', {
    meaning: 'An unexpected error. It is logged under the x-request-id of the answer.',
    remedy:
      'Send the same request with the same Idempotency-Key. If the error repeats, send the operator the x-request-id.',
    retryAfterSeconds: 0,
  }),
};

export type ResponseCode = keyof typeof RESPONSE_CODES;
export type FailureCode = Exclude<ResponseCode, '00'>;

/** Failure codes of every operation of a partner. */
export const COMMON_FAILURES: FailureCode[] = ['10', '12', '20', '21', '50', '90', '99'];
