import type { RegistrationRequest } from './contract.ts';
import type { InvalidField } from './results.ts';
import { isEmailAddress, normalizePerson, REGISTRATION_RULES } from './rules.ts';

/** A field that the service would refuse with code 11. */
export interface RefusedField extends InvalidField {
  /** The sentence that `responseMessage` has for the field. */
  message: string;
}

interface Rule {
  isRequired: boolean;
  type: readonly string[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  sentence: string;
}

const RULES = Object.entries<Rule>(REGISTRATION_RULES).map(([field, rule]) => ({
  ...rule,
  field,
  pattern: rule.pattern === undefined ? undefined : new RegExp(rule.pattern, 'u'),
}));
type CompiledRule = (typeof RULES)[number];

/**
 * Returns the fields of a registration that the service would refuse, each with the rule that it breaks and
 * the service's sentence. Empty: the service accepts all fields. It knows no tickets and no other attendees,
 * so it can still refuse the registration. Sends nothing.
 */
export function checkRegistration(request: RegistrationRequest): RefusedField[] {
  if (typeof request !== 'object' || (request as unknown) === null || Array.isArray(request))
    return [{ field: '', rule: 'type', message: 'The body must be a JSON object' }];
  const stored: Record<string, unknown> = normalizePerson({ ...request });
  return RULES.flatMap((rule) =>
    brokenRules(rule, stored[rule.field]).map((broken) => ({
      field: rule.field,
      rule: broken,
      message: rule.sentence,
    })),
  );
}

function brokenRules(rule: CompiledRule, value: unknown): string[] {
  if (value === undefined) return rule.isRequired ? ['required'] : [];
  if (value === null) return rule.type.includes('null') ? [] : ['type'];
  if (typeof value === 'string') return rule.type.includes('string') ? brokenByText(rule, value) : ['type'];
  return rule.type.includes('integer') && typeof value === 'number' ? brokenByNumber(rule, value) : ['type'];
}

function brokenByNumber({ minimum = -Infinity, maximum = Infinity }: CompiledRule, value: number) {
  return [
    !Number.isInteger(value) && 'type',
    value < minimum && 'minimum',
    value > maximum && 'maximum',
  ].filter((broken) => broken !== false);
}

function brokenByText({ minLength = 0, maxLength = Infinity, pattern, format }: CompiledRule, text: string) {
  const { length } = Array.from(text);
  return [
    length < minLength && 'minLength',
    length > maxLength && 'maxLength',
    pattern?.test(text) === false && 'pattern',
    format === 'email' && !isEmailAddress(text) && 'format',
  ].filter((broken) => broken !== false);
}
