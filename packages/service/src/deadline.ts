import { systemClock } from './clock.ts';

/** Settles with the promise or, after `deadlineMs`, with the result of `late`. Leaves no timer behind. */
export async function withDeadline<T, Late>(
  promise: Promise<T>,
  deadlineMs: number,
  late: () => Late,
  clock = systemClock,
) {
  const { promise: deadline, resolve } = Promise.withResolvers<void>();
  const timer = clock.setTimeout(resolve, deadlineMs);
  return Promise.race([promise, deadline.then(late)]).finally(() => clock.clearTimeout(timer));
}
