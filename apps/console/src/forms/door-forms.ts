import type { FormDefinitions } from './definitions.ts';
import { deviceOf, eventName, gateOf } from './subjects.ts';

export const doorForms = {
  gateCreate: { about: async (page, given) => [await eventName(page, given), page.words.about.newGate] },
  gateUpdate: {
    current: gateOf,
    about: async (page, given) => {
      const gate = await gateOf(page, given);
      const { format, words } = page;
      return [gate && words.about.gate(gate.name, format.number(gate.admitted), format.number(gate.inside))];
    },
  },
  deviceCreate: {
    // The link proposes gates, and the form asks for them nevertheless.
    parts: { enrol: { fields: ['name', 'gates'], proposed: ['gates'] } },
    about: async (page, given) => [await eventName(page, given), page.words.about.newDevice],
  },
  deviceCode: {
    about: async (page, given) => [(await deviceOf(page, given))?.name, page.words.about.deviceCode],
  },
  deviceRevoke: {
    isDangerous: true,
    about: async (page, given) => {
      const device = await deviceOf(page, given);
      if (!device) return [];
      const { format, words } = page;
      const { name, received, lastCounter } = device;
      if (given['lost'] === 'true')
        return [words.door.loseAbout(name, format.number(lastCounter - received))];
      const missing = lastCounter - received;
      return [
        words.about.device(name, format.number(received)),
        missing > 0 && words.about.deviceMisses(format.number(missing)),
        words.about.deviceRevoke,
      ];
    },
  },
} satisfies FormDefinitions;
