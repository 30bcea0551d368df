import type { FieldWords } from '../index.ts';
import { peopleFields } from './people-forms.ts';

/** Fields of forms, by their name in operations. */
export const fields: Record<string, FieldWords> = { ...peopleFields };
