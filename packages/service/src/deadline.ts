/** Resolves or rejects as the promise does, or resolves with undefined after `timeoutMs`. */
export async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, timeoutMs, undefined);
  return Promise.race([promise, over]).finally(() => clearTimeout(timer));
}
