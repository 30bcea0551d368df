import type { FieldWords } from '../index.ts';
import { doorFields } from './door.ts';

/** Fields of forms, by their name in operations. */
export const fields: Record<string, FieldWords> = { ...doorFields };
