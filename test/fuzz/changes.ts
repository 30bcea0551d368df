import { BODY_LIMIT_BYTES, parsePassReference } from '@floodgate/contract';
import { Finding } from './read-answers.ts';
import type { StrictRequest } from './read-strictly.ts';
import type { Target } from './target.ts';

const CHANGE = /^\/api\/v1\/events\/registrations\/([A-Za-z0-9-]+)\/(cancel|confirm)(?:[?#]|$)/;

/** What a request wants to do with a registration. */
interface WantedChange {
  passReference: string;
  name: 'cancel' | 'confirm';
}

/** Returns what a request wants to change of which registration, undefined where it wants something else. */
export function changeBy({ method, target }: StrictRequest): WantedChange | undefined {
  const [, passReference, name] = (method === 'POST' && CHANGE.exec(target)) || [];
  return passReference === undefined ? undefined : { passReference, name: name as WantedChange['name'] };
}

/** What a caller that may change it is answered. The body is not read, but it may be too large. */
export const codesOfChange = ({ body }: StrictRequest) =>
  body.length > BODY_LIMIT_BYTES ? (['10'] as const) : (['00', '34', '35'] as const);

const CODES = { cancelled: '00', confirmed: '00', 'too-late': '35', admitted: '35', replaced: '35' };

const RESET = '/api/v1/events/reset';

/** Whether a request asks for a test event to be reset. The fuzzer's is a live one. */
export const isReset = ({ method, target }: StrictRequest) =>
  method === 'POST' && target.split(/[?#]/, 1)[0] === RESET;

/** What a caller whose event it is is answered. The body is not read, but it may be too large. */
export const codesOfReset = ({ body }: StrictRequest) =>
  body.length > BODY_LIMIT_BYTES ? (['10'] as const) : (['60'] as const);

/** Compares an answer with what is registered, and remembers what was changed. */
export function judgeChange(target: Target, { passReference, name }: WantedChange, code: string): void {
  const { partnerId, model, passPrefix } = target;
  const parts = parsePassReference(passReference);
  const named = parts?.prefix === passPrefix ? { ...parts, partnerId } : null;
  // Nobody takes overdue seats back here. A long run may see the end of one that it has asked for.
  if (code === '35' && named && name === 'confirm') model.endHold(named);
  const outcome =
    named && (name === 'cancel' ? model.cancel({ ...named, deadline: null }) : model.confirm(named));
  const expected = outcome === null ? '34' : CODES[outcome];
  if (code !== expected)
    throw new Finding(`${name} ${passReference} was answered ${code}, the model expects ${expected}`);
}
