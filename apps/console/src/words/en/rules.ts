import { doorRules } from './door.ts';

/** Rules and reasons of operations, as they have them. In English there is nothing to translate. */
export const rules: Record<string, string> = {
  ...doorRules,
};

/** Rules with a changing part, and what stands in their place. */
export const rulePatterns: readonly (readonly [rule: RegExp, text: string])[] = [];
