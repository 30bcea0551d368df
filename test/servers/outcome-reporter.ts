import { writeFileSync } from 'node:fs';
import process from 'node:process';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** A file with a failed test, or with an error outside any test. */
export interface FailedFile {
  project: string;
  file: string;
  /** Full names of its failed tests. Empty if the error was outside any test. */
  tests: string[];
}

/** The result of a run, for test/run.ts. */
export interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  failedFiles: FailedFile[];
  /** Errors that belong to no file. */
  strayErrors: string[];
}

/** Writes the outcome of a run to the file that TEST_OUTCOME names. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    const file = process.env['TEST_OUTCOME'];
    if (file) writeFileSync(file, JSON.stringify(outcomeOf(modules, errors)));
  }
}

function outcomeOf(modules: readonly TestModule[], errors: readonly SerializedError[]): Outcome {
  const failedFiles = modules.filter((module) => !module.ok() || isBlamed(module, errors)).map(failedFileOf);
  const brokenFiles = failedFiles.filter(({ tests }) => tests.length === 0);
  const strayErrors = errors.filter((error) => !modules.some((module) => isBlamed(module, [error])));
  const count = (state: string) => modules.flatMap(resultsOf).filter((one) => one === state).length;
  return {
    passed: count('passed'),
    failed: count('failed') + brokenFiles.length + strayErrors.length,
    skipped: count('skipped'),
    failedFiles,
    strayErrors: strayErrors.map(({ message }) => message),
  };
}

const resultsOf = (module: TestModule) =>
  Array.from(module.children.allTests(), (test) => test.result().state);

const failedFileOf = (module: TestModule): FailedFile => ({
  project: module.project.name,
  file: module.relativeModuleId,
  tests: Array.from(module.children.allTests('failed'), ({ fullName }) => fullName),
});

/** Vitest notes in which file an error outside any test occurred. */
const isBlamed = ({ moduleId }: TestModule, errors: readonly SerializedError[]) =>
  errors.some((error) => error['VITEST_TEST_PATH'] === moduleId);
