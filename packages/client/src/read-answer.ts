import { BULK_ITEM_FAILURES, OPERATION_FAILURES, type Envelope, type Operation } from './contract.ts';
import type { Outcome } from './persist.ts';
import type * as results from './results.ts';
import type { Answer } from './transport.ts';

/** The result of each operation. */
export interface Results {
  registerForEvent: results.RegisterResult;
  registerInBulk: results.BulkResult;
  getRegistration: results.RegistrationResult;
  cancelRegistration: results.CancelResult;
  confirmRegistration: results.ConfirmResult;
  resetTestEvent: results.ResetResult;
  listRegistrations: results.RegistrationListResult;
  getTickets: results.TicketsResult;
  getLaunch: results.LaunchResult;
  getPass: results.PassResult;
  listRevokedPasses: results.RevokedPassesResult;
  listWebhooks: results.WebhookListResult;
  createWebhook: results.WebhookCreationResult;
  getWebhook: results.WebhookResult;
  changeWebhook: results.WebhookChangeResult;
  pauseWebhook: results.WebhookChangeResult;
  resumeWebhook: results.WebhookChangeResult;
  deleteWebhook: results.WebhookChangeResult;
  testWebhook: results.WebhookTestResult;
  rotateWebhookSecret: results.WebhookRotationResult;
  replayWebhook: results.WebhookChangeResult;
  listWebhookAttempts: results.WebhookAttemptsResult;
}

/** What a result calls the data of a success. */
const DATA_FIELD = {
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

type Told = Exclude<Outcome, { kind: 'unknown' }>;

/** Returns what an operation was answered, as its own result. */
export function readAnswer<Name extends Operation>(operation: Name, outcome: Told): Results[Name];
export function readAnswer(operation: Operation, outcome: Told): unknown {
  const { status } = outcome;
  if (outcome.kind === 'foreign') {
    const message = `HTTP status ${status} without the service's envelope`;
    return { code: 'other', responseCode: null, status, message, requestId: null };
  }
  const { code, message, requestId, data, invalidFields } = outcome;
  if (code === '00') {
    const value = operation === 'registerInBulk' ? readItems(data as Envelope[], outcome) : data;
    return { code, message, requestId, [DATA_FIELD[operation]]: value };
  }
  const isKnown = (OPERATION_FAILURES[operation] as readonly string[]).includes(code);
  if (isKnown) return { code, message, requestId, ...(invalidFields.length > 0 && { invalidFields }) };
  return { code: 'other', responseCode: code, status, message, requestId };
}

const ITEM_FAILURES: readonly string[] = BULK_ITEM_FAILURES;

/** Returns what became of each registration of a bulk call. */
function readItems(envelopes: Envelope[], { requestId, invalidFields }: Answer): results.BulkItemResult[] {
  return envelopes.map(({ responseCode: code, responseMessage: message, responseData }, index) => {
    if (code === '00') return { code, message, requestId, passReference: responseData as string };
    const own = fieldsOfItem(invalidFields, index);
    if (ITEM_FAILURES.includes(code))
      return {
        code,
        message,
        requestId,
        ...(own.length > 0 && { invalidFields: own }),
      } as results.BulkItemResult;
    return { code: 'other', responseCode: code, status: 200, message, requestId };
  });
}

/** Returns the invalid fields of one registration of a bulk call, by the names that they have in a call of their own. */
function fieldsOfItem(invalidFields: readonly results.InvalidField[], index: number): results.InvalidField[] {
  const item = new RegExp(`^registrations/${index}(?:/|$)`);
  return invalidFields
    .filter(({ field }) => item.test(field))
    .map(({ field, rule }) => ({ field: field.replace(item, ''), rule }));
}
