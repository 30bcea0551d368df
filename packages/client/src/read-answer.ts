import { BULK_ITEM_FAILURES, OPERATION_FAILURES, type Envelope, type Operation } from './contract.ts';
import type { Outcome } from './persist.ts';
import type {
  BulkItemResult,
  BulkResult,
  CancelResult,
  ConfirmResult,
  LaunchResult,
  RegisterResult,
  RegistrationListResult,
  RegistrationResult,
  ResetResult,
  TicketsResult,
} from './results.ts';

/** The result of each operation. */
export interface Results {
  registerForEvent: RegisterResult;
  registerInBulk: BulkResult;
  getRegistration: RegistrationResult;
  cancelRegistration: CancelResult;
  confirmRegistration: ConfirmResult;
  resetTestEvent: ResetResult;
  listRegistrations: RegistrationListResult;
  getTickets: TicketsResult;
  getLaunch: LaunchResult;
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
  const { code, message, requestId, data } = outcome;
  if (code === '00') {
    const value = operation === 'registerInBulk' ? readItems(data as Envelope[], requestId) : data;
    return { code, message, requestId, [DATA_FIELD[operation]]: value };
  }
  const isKnown = (OPERATION_FAILURES[operation] as readonly string[]).includes(code);
  if (isKnown) return { code, message, requestId };
  return { code: 'other', responseCode: code, status, message, requestId };
}

const ITEM_FAILURES: readonly string[] = BULK_ITEM_FAILURES;

/** Returns what became of each registration of a bulk call. */
function readItems(envelopes: Envelope[], requestId: string | null): BulkItemResult[] {
  return envelopes.map(({ responseCode: code, responseMessage: message, responseData }) => {
    if (code === '00') return { code, message, requestId, passReference: responseData as string };
    if (ITEM_FAILURES.includes(code)) return { code, message, requestId } as BulkItemResult;
    return { code: 'other', responseCode: code, status: 200, message, requestId };
  });
}
