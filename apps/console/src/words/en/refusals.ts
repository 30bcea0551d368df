/** Why requests of partners are refused, by response code, and what an operator can do. */
export const refusals = {
  '10': {
    why: 'The request was not well-formed, or too large',
    todo: 'The partner must mend its software: the answer says what is wrong.',
  },
  '11': {
    why: 'A field was not valid, such as a name or an e-mail address',
    todo: 'The partner must mend its form: the answer names each field and its rule.',
  },
  '12': {
    why: 'The reference of the event was missing, or is none',
    todo: 'Send the partner the reference of the event (x-event-ref). It is on the settings page of the event.',
  },
  '20': {
    why: 'The key is expired, revoked or for the other mode, or the partner is disabled',
    todo: 'Look at the keys below. Issue a new one, or enable the partner again.',
  },
  '21': {
    why: 'The event does not exist, is not open to this partner, or needs a key of the other mode',
    todo: 'Let the partner sell the event, and check that it has a key for live or test events.',
  },
  '30': {
    why: 'The event has no such ticket',
    todo: 'The partner must read the list of tickets again and use its numbers.',
  },
  '31': {
    why: 'The ticket was not on sale',
    todo: 'Look at the tickets of the event: was the sale stopped, not open yet, or over?',
  },
  '32': {
    why: 'Sold out, or the partner has sold its allocation',
    todo: 'Raise the capacity, or give this partner more seats of its own.',
  },
  '33': {
    why: 'The e-mail address is registered already, and the event allows it once',
    todo: 'Nothing, if the rule about duplicates of the event is what you want.',
  },
  '34': {
    why: 'The partner has no such registration, hold or entry of a waiting list',
    todo: 'The partner must check the reference. Registrations of other partners do not exist for it.',
  },
  '35': {
    why: 'The registration no longer allows it: cancelled, admitted, expired, or after the deadline',
    todo: 'You can cancel for the partner: find the person, then cancel the registration.',
  },
  '36': {
    why: 'Nothing was wrong with it, but another registration of the same call was refused',
    todo: 'Look at the other reasons. The partner can send its calls in the mode "each".',
  },
  '37': {
    why: 'The partner holds as many seats as it may',
    todo: 'It must confirm or release its holds. You can change how many a partner may hold.',
  },
  '38': {
    why: 'It wanted to join a waiting list, but there are free seats',
    todo: 'Nothing: the partner can sell the seats.',
  },
  '39': {
    why: 'The ticket has no open waiting list',
    todo: 'Open the waiting list of the ticket if people should wait.',
  },
  '40': {
    why: 'The partner used one Idempotency-Key for two different requests',
    todo: 'The partner must mend its software: one new key for each registration.',
  },
  '41': {
    why: 'The same request was still in progress',
    todo: 'Nothing: the partner sends it again after a second.',
  },
  '50': {
    why: 'The partner sent more requests than its limit allows',
    todo: 'Raise its limit, or ask the partner to spread its requests.',
  },
  '60': {
    why: 'The address of the request does not exist',
    todo: 'The partner must mend its software.',
  },
  '70': { why: 'The partner has no such webhook', todo: 'The partner must list its webhooks again.' },
  '71': {
    why: 'The partner has ten webhooks for the event already',
    todo: 'It must delete one it does not need.',
  },
  '72': {
    why: 'An operator has paused the webhook',
    todo: 'Resume the webhook if its receiver works again.',
  },
  '90': {
    why: 'The service was overloaded, or could not reach its database',
    todo: 'Look at Health. The partner tries again by itself; nothing was reserved.',
  },
  '91': {
    why: 'It is not known whether it succeeded',
    todo: 'Look at Health. With its Idempotency-Key, the partner gets the outcome when it asks again.',
  },
  '99': {
    why: 'Something unexpected happened',
    todo: 'It is in the log of the API, with the request id that the partner got.',
  },
};
