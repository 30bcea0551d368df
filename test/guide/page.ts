import { readFileSync } from 'node:fs';

const folder = new URL('../../apps/docs/guide/', import.meta.url);

/** A fenced block of a page. */
export interface Block {
  /** As after the fence, empty for pictures. */
  language: string;
  code: string;
  /** Where it begins. */
  line: number;
}

/** Returns the fenced blocks of a page of the guide, in order. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(new URL(`${page}.md`, folder), 'utf8');
  return Array.from(text.matchAll(/^```(\w*)\n(.*?)^```$/gms), ({ index, 1: language, 2: code }) => ({
    language: language!,
    code: code!,
    line: text.slice(0, index).split('\n').length,
  }));
}

/**
 * Returns what an answer and its printed example have in common: the fields in their order, and the kinds of
 * values. Response codes are the same; what is null in either may be anything.
 */
export function isLike(example: unknown, answer: unknown): boolean {
  if (example === null || answer === null) return true;
  if (Array.isArray(example) && Array.isArray(answer))
    return example.length === answer.length && example.every((item, index) => isLike(item, answer[index]));
  if (typeof example !== 'object') return typeof example === typeof answer;
  const [ours, theirs] = [example, answer] as Record<string, unknown>[];
  return (
    Object.keys(ours!).join() === Object.keys(theirs!).join() &&
    ours!['responseCode'] === theirs!['responseCode'] &&
    Object.entries(ours!).every(([name, value]) => isLike(value, theirs![name]))
  );
}
