import { RESPONSE_CODES, type ResponseCodeEntry } from '@floodgate/contract';
import type { DescribedApi } from './postman-collection.ts';
import { table } from './table.ts';

/**
 * Returns the response codes as Markdown: a table of all, and a section for each with its meaning where the
 * message does not say all, what to do, and who answers it.
 */
export function describeResponseCodes(api: DescribedApi): string {
  const codes = Object.entries<ResponseCodeEntry>(RESPONSE_CODES)
    // JavaScript puts "10" before "00": keys that look like array indexes come first.
    .toSorted(([a], [b]) => a.localeCompare(b));
  const rows = codes.map(([code, { httpStatuses, message }]) => [
    `[${code}](#code-${code})`,
    httpStatuses.join(', '),
    message,
  ]);
  const answeredBy = operationsByCode(api);
  const every = answeredBy.get('00')!;
  const sections = codes.map(([code, entry]) =>
    describeCode(code, entry, answerers(answeredBy.get(code) ?? [], every)),
  );
  return [table(['code', 'HTTP', 'message'], rows), ...sections].join('\n');
}

/** Said once, above all sections. */
const EVERY_OPERATION = 'every operation';

/** Names these operations, or those that are missing, whichever list is shorter. */
function answerers(operations: string[], every: string[]): string {
  const others = every.filter((operation) => !operations.includes(operation));
  if (operations.length === 0) return 'paths and methods that are no operation';
  if (others.length === 0) return EVERY_OPERATION;
  return others.length < operations.length
    ? `every operation except ${others.join(', ')}`
    : operations.join(', ');
}

function describeCode(code: string, entry: ResponseCodeEntry, operations: string): string {
  const { message, meaning, remedy } = entry;
  const more = meaning.replace(/\.$/, '') === message ? [] : [meaning];
  const parts = [`## Code ${code}`, ...more, `**What to do.** ${remedy}`];
  if (operations !== EVERY_OPERATION) parts.push(`Answered by: ${operations}.`);
  return `${parts.join('\n\n')}\n`;
}

/** By response code, the operations that list it, also for one registration of a bulk call. */
function operationsByCode({ paths, components }: DescribedApi): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const add = (code: string, operation: string) => found.set(code, [...(found.get(code) ?? []), operation]);
  for (const { summary, responses } of operations) {
    const examples = Object.values(responses).flatMap(({ content }) =>
      Object.values(content['application/json'].examples ?? {}),
    );
    for (const code of new Set(examples.map(({ value }) => value.responseCode))) add(code, summary);
  }
  for (const code of components.schemas['RefusedItem']!.properties['responseCode']!.enum)
    if (!found.get(code)?.includes('Register In Bulk'))
      add(code, 'Register In Bulk (for one of its registrations)');
  return found;
}
