import type { FormDefinitions } from './definitions.ts';

export const eventForms = {
  eventUpdate: {
    parts: {
      place: ['name', 'venue', 'startsAt', 'endsAt', 'timeZone'],
      cancellation: ['cancelUntil', 'mailOperatorCancels', 'mailPartnerCancels'],
      mail: ['language', 'replyTo'],
      money: ['currency'],
    },
    current: async ({ read, operations }, { eventId = '' }) => (await read(operations.eventShow, { eventId }))!,
  },
} satisfies FormDefinitions;
