import { maskPassCodes } from '@floodgate/contract';
import { mayUse, type OperatorPrincipal } from '@floodgate/operators';

/**
 * Returns what an operation has answered, as this operator may see it. The door admits a pass reference, so
 * only those who may see attendees see its code. Everything that the operator API and the pages show passes
 * here.
 */
export const shownTo = <Result>(operator: OperatorPrincipal, result: Result): Result =>
  mayUse(operator, 'attendees:read') ? result : withoutPassCodes(result);

/** Returns a result with masked pass references. */
export const withoutPassCodes = <Result>(result: Result): Result => masked(result) as Result;

function masked(value: unknown): unknown {
  if (typeof value === 'string') return maskPassCodes(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  // Not a date, and not a response that is streamed.
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, masked(one)]));
}
