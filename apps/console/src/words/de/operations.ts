import type { OperationWords } from '../index.ts';

/** Operations, by their name. */
export const operations: Record<string, OperationWords> = {};
