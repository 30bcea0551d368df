import { doorRules } from './door.ts';

/** Rules of operations, as they have them. In English there is nothing to translate. */
export const rules: Record<string, string> = { ...doorRules };
