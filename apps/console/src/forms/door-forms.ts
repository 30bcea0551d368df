import { html } from 'ghtml';
import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';

/** Resolves to the device that a form is about. Undefined: the event has no such device. */
async function deviceOf({ read, operations }: PageRequest, { eventId = '', deviceId }: Texts) {
  return (await read(operations.deviceList, { eventId }))?.find(({ id }) => String(id) === deviceId);
}

const aboutHtml = (text: string) => html`<p class="sub">${text}</p>`;

export const doorForms = {
  gateUpdate: {
    current: async ({ read, operations }, { eventId = '', gateId }) => {
      const gate = (await read(operations.gateList, { eventId }))?.find(({ id }) => String(id) === gateId);
      if (!gate) return {};
      const { name, tickets, opensAt, closesAt, showsNames } = gate;
      return { name, tickets, opensAt, closesAt, showsNames };
    },
  },
  deviceCreate: {
    // The link proposes gates, and the form asks for them nevertheless.
    parts: { enrol: ['name', 'gates'] },
    about: ({ words }) => Promise.resolve(aboutHtml(words.door.enrolAbout)),
  },
  deviceCode: {
    about: async (page, given) => {
      const device = await deviceOf(page, given);
      return device ? aboutHtml(`${device.name}. ${page.words.door.enrolAbout}`) : '';
    },
  },
  deviceRevoke: {
    isDangerous: true,
    about: async (page, given) => {
      const { words, format } = page;
      const device = await deviceOf(page, given);
      if (!device) return '';
      const { name, lastCounter, received } = device;
      const waiting = format.number(lastCounter - received);
      return aboutHtml(
        given['lost'] === 'true' ? words.door.loseAbout(name, waiting) : words.door.revokeAbout(name),
      );
    },
  },
} satisfies FormDefinitions;
