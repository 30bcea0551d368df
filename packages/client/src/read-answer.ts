import { BULK_ITEM_FAILURES, OPERATION_FAILURES, type Envelope, type Operation } from './contract.ts';
import type { BulkItemResult, InvalidField, ResultOf } from './results.ts';
import type { Outcome } from './retry.ts';
import type { Answer } from './transport.ts';

/** The name of the data in the result of each operation. */
export const DATA_FIELDS = {
  registerForEvent: 'passReference',
  registerInBulk: 'registrations',
  getRegistration: 'registration',
  cancelRegistration: 'passReference',
  confirmRegistration: 'passReference',
  resetTestEvent: 'reset',
  listRegistrations: 'page',
  getTickets: 'tickets',
  getLaunch: 'launch',
  getPass: 'pass',
  getSignedEvent: 'signedEvent',
  listRevokedPasses: 'page',
  listWebhooks: 'webhooks',
  createWebhook: 'webhook',
  getWebhook: 'webhook',
  changeWebhook: 'webhook',
  pauseWebhook: 'webhook',
  resumeWebhook: 'webhook',
  deleteWebhook: 'webhook',
  testWebhook: 'test',
  rotateWebhookSecret: 'webhook',
  replayWebhook: 'webhook',
  listWebhookAttempts: 'attempts',
} as const satisfies Record<Operation, string>;

type Final = Exclude<Outcome, { kind: 'unknown' }>;

/** Returns an answer as the result of its operation. */
export function readAnswer<Name extends Operation>(operation: Name, outcome: Final): ResultOf<Name>;
export function readAnswer(operation: Operation, outcome: Final): unknown {
  const { status } = outcome;
  if (outcome.kind === 'foreign') {
    const message = `HTTP status ${status} without the service's envelope`;
    return { code: 'other', responseCode: null, status, message, requestId: null };
  }
  const { code, message, requestId, data, invalidFields } = outcome;
  if (code === '00') {
    const value = operation === 'registerInBulk' ? readItems(data as Envelope[], outcome) : data;
    return { code, message, requestId, [DATA_FIELDS[operation]]: value };
  }
  const isKnown = (OPERATION_FAILURES[operation] as readonly string[]).includes(code);
  if (isKnown) return { code, message, requestId, ...(invalidFields.length > 0 && { invalidFields }) };
  return { code: 'other', responseCode: code, status, message, requestId };
}

const ITEM_FAILURES: readonly string[] = BULK_ITEM_FAILURES;

/** Returns the result of each registration of a bulk call. */
function readItems(envelopes: Envelope[], { requestId, invalidFields }: Answer): BulkItemResult[] {
  return envelopes.map(({ responseCode: code, responseMessage: message, responseData }, index) => {
    if (code === '00') return { code, message, requestId, passReference: responseData as string };
    const own = fieldsOfItem(invalidFields, index);
    if (ITEM_FAILURES.includes(code))
      return {
        code,
        message,
        requestId,
        ...(own.length > 0 && { invalidFields: own }),
      } as BulkItemResult;
    return { code: 'other', responseCode: code, status: 200, message, requestId };
  });
}

/** Returns the invalid fields of one registration of a bulk call, named as in a single call. */
function fieldsOfItem(invalidFields: readonly InvalidField[], index: number): InvalidField[] {
  const item = new RegExp(`^registrations/${index}(?:/|$)`);
  return invalidFields
    .filter(({ field }) => item.test(field))
    .map(({ field, rule }) => ({ field: field.replace(item, ''), rule }));
}
