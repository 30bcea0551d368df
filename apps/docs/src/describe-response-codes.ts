import {
  failure,
  RESPONSE_CODES,
  success,
  type FailureCode,
  type ResponseCodeEntry,
} from '@floodgate/contract';
import type { DescribedApi } from './postman-collection.ts';
import { table } from './table.ts';

/** Returns the response codes as Markdown: a table of all, and a section for each with who answers it and what to do. */
export function describeResponseCodes(api: DescribedApi): string {
  const codes = Object.entries<ResponseCodeEntry>(RESPONSE_CODES)
    // JavaScript puts "10" before "00": keys that look like array indexes come first.
    .toSorted(([a], [b]) => a.localeCompare(b));
  const rows = codes.map(([code, { httpStatuses, meaning, retryAfterSeconds }]) => [
    `[${code}](#code-${code})`,
    httpStatuses.join(', '),
    meaning,
    retryAfterSeconds === undefined ? 'no' : 'yes',
  ]);
  const answeredBy = operationsByCode(api);
  const everyOperation = answeredBy.get('00')!.length;
  const sections = codes.map(([code, entry]) =>
    describeCode(code, entry, answerers(answeredBy.get(code) ?? [])),
  );
  function answerers(operations: string[]): string {
    if (operations.length === everyOperation) return 'every operation';
    return operations.length > 0 ? operations.join(', ') : 'paths and methods that are no operation';
  }
  return [table(['code', 'HTTP', 'meaning', 'retry'], rows), ...sections].join('\n');
}

function describeCode(
  code: string,
  { httpStatuses, message, meaning, remedy, retryAfterSeconds }: ResponseCodeEntry,
  operations: string,
): string {
  const body = code === '00' ? success('GALA-1001-1-5909379514') : failure(code as FailureCode);
  return [
    `## Code ${code}`,
    `**${message}.** HTTP ${httpStatuses.join(', ')}.${meaning === `${message}.` ? '' : ` ${meaning}`}`,
    `**What to do.** ${remedy}`,
    ...(retryAfterSeconds === undefined ? [] : ['The same request may succeed later without being changed.']),
    `Answered by: ${operations}.`,
    `\`\`\`json\n${JSON.stringify(body)}\n\`\`\`\n`,
  ].join('\n\n');
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
