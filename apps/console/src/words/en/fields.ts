import type { FieldWords } from '../index.ts';

/** Fields of forms, by their name in operations. */
export const fields: Record<string, FieldWords> = {};
