import { doorRules } from './door.ts';

/** Rules of operations in German, by their English text. */
export const rules: Record<string, string> = { ...doorRules };
