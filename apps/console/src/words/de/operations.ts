import type { OperationWords } from '../index.ts';
import { peopleOperations } from './people-forms.ts';

/** Operations, by their name. */
export const operations: Record<string, OperationWords> = { ...peopleOperations };
