import type { OperationWords } from '../index.ts';
import { doorOperations } from './door.ts';

/** Operations, by their name. */
export const operations: Record<string, OperationWords> = { ...doorOperations };
