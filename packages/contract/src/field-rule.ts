/** What a rule is read from: the parts of a JSON schema that lead from a value to those inside it. */
interface RuleSchema {
  description?: string;
  properties?: Record<string, RuleSchema>;
  items?: RuleSchema;
}

/**
 * Returns the sentence of the rule for the value at `path` in what `schema` describes, e.g. "fullName: required, 1 to 255
 * characters …" or "registrations[3].emailAddress: required, …". A path names properties and positions in lists.
 */
export function fieldRule(schema: unknown, path: readonly string[]): string {
  let name = '';
  let found = schema as RuleSchema | undefined;
  for (const segment of path) {
    const isPosition = found?.items !== undefined;
    if (isPosition) name += `[${segment}]`;
    else name += name === '' ? segment : `.${segment}`;
    found = isPosition ? found?.items : ownProperty(found?.properties, segment);
  }
  const rule = found?.description ?? 'Not valid';
  return `${name}: ${rule.charAt(0).toLowerCase()}${rule.slice(1)}`;
}

function ownProperty(properties: RuleSchema['properties'], name: string): RuleSchema | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
