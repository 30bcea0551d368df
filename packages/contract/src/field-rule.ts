/** What a rule is read from: the parts of a JSON schema that lead from a value to those inside it. */
interface RuleSchema {
  /** The whole sentence, where the name as it stands would not do. */
  title?: string;
  description?: string;
  properties?: Record<string, RuleSchema>;
  items?: RuleSchema;
}

/**
 * Returns the sentence of the rule for the value at `pointer` (as "/registrations/3/emailAddress") in what `schema`
 * describes, e.g. "registrations[3].emailAddress: required, an e-mail address …".
 */
export function fieldRule(schema: unknown, pointer: string): string {
  let name = '';
  let found = schema as RuleSchema | undefined;
  for (const segment of pointer.split('/').slice(1)) {
    name += found?.items ? `[${segment}]` : `${name && '.'}${segment}`;
    found = inside(found, segment);
  }
  if (found?.title !== undefined) return found.title;
  const rule = found?.description ?? 'Not valid';
  return `${name}: ${rule.charAt(0).toLowerCase()}${rule.slice(1)}`;
}

function inside(schema: RuleSchema | undefined, segment: string): RuleSchema | undefined {
  if (schema?.items) return schema.items;
  const properties = schema?.properties ?? {};
  return Object.hasOwn(properties, segment) ? properties[segment] : undefined;
}
