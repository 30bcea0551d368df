import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Files that take minutes. Begun last, they would leave the other worker without work. */
const LONGEST = ['faults/faults', 'end-to-end/compose', 'queue/consumers', 'citus/cluster'];

const rank = ({ moduleId }: TestSpecification) => {
  const index = LONGEST.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
  return index === -1 ? LONGEST.length : index;
};

/** Vitest's order, after the longest files of the first project. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted(
      (a, b) =>
        a.project.config.sequence.groupOrder - b.project.config.sequence.groupOrder || rank(a) - rank(b),
    );
  }
}
