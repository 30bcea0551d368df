import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

/** Files that take long, although most are small. If they ran last, the other workers would be idle. */
const LONGEST = [
  'end-to-end/compose',
  'citus/cluster',
  'queue/half-open',
  'registrations/reserve-batch',
  'door/model',
];

const rank = ({ moduleId }: TestSpecification) => {
  const index = LONGEST.findIndex((file) => moduleId.endsWith(`/test/${file}.test.ts`));
  return index === -1 ? LONGEST.length : index;
};

/** Runs the longest files of each project before the others, which keep Vitest's order: the large ones first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted(
      (a, b) =>
        a.project.config.sequence.groupOrder - b.project.config.sequence.groupOrder || rank(a) - rank(b),
    );
  }
}
