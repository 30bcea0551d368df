import { TypeCompiler } from '@sinclair/typebox/compiler';
import { JOBS, type JobName } from './jobs.ts';

const checks = Object.fromEntries(
  Object.entries(JOBS).map(([name, definition]) => [name, TypeCompiler.Compile(definition.payload)]),
);

/** Whether the payload is what jobs of this name carry. Producers and consumers both ask. */
export function isPayloadOf(name: string, payload: unknown): name is JobName {
  return checks[name]?.Check(payload) ?? false;
}
