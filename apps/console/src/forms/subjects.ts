import type { PageRequest } from '../add-page.ts';
import { knownPartners } from '../pages/names.ts';
import type { Texts } from '../view/html.ts';

// The subject of a form, by the fields in its address. Undefined: nothing is given, or the operator may not see
// it.

/** Resolves to what an operation returns for something that is given. */
const found =
  <Thing>(field: string, read: (page: PageRequest, id: string, given: Texts) => Promise<Thing | undefined>) =>
  async (page: PageRequest, given: Texts) => {
    const id = given[field];
    return id ? read(page, id, given) : undefined;
  };

export const eventOf = found('eventId', ({ read, operations }, eventId) =>
  read(operations.eventShow, { eventId }),
);
export const ticketOf = found('ticketId', ({ read, operations }, ticketId) =>
  read(operations.ticketShow, { ticketId }),
);
export const webhookOf = found('webhookId', ({ read, operations }, webhookId) =>
  read(operations.webhookShow, { webhookId }),
);
export const jobOf = found('jobId', ({ read, operations }, jobId) => read(operations.jobShow, { jobId }));
export const operatorOf = found('name', ({ read, operations }, name) =>
  read(operations.operatorShow, { name }),
);
export const registrationOf = found('passReference', ({ read, operations }, passReference) =>
  read(operations.registrationShow, { passReference }),
);

export const partnerOf = found('partnerId', async ({ read, operations }, partnerId) =>
  (await read(operations.partnerList, {}))?.find(({ id }) => String(id) === partnerId),
);
export const keyOf = found('keyId', async ({ read, operations }, keyId) =>
  (await read(operations.keyList, {}))?.find((key) => key.keyId === keyId),
);
export const accessOf = found('accessId', async ({ read, operations }, accessId) =>
  (await read(operations.accessList, {}))?.find(({ id }) => id === accessId),
);
export const gateOf = found('gateId', async ({ read, operations }, gateId, { eventId = '' }) =>
  (await read(operations.gateList, { eventId }))?.find(({ id }) => String(id) === gateId),
);
export const deviceOf = found('deviceId', async ({ read, operations }, deviceId, { eventId = '' }) =>
  (await read(operations.deviceList, { eventId }))?.find(({ id }) => String(id) === deviceId),
);

/** Resolves to the progress of the e-mails of an event. Undefined: they are off. */
export const mailOf = found('eventId', async ({ read, operations }, eventId) =>
  (await read(operations.mailStatus, { eventId }))?.events.at(0),
);

/** Resolves to how many attendees have got an e-mail with their pass. */
export const sentTo = async (page: PageRequest, given: Texts) => (await mailOf(page, given))?.sent ?? 0;

/** Resolves to the name of an event, or to an empty text. */
export const eventName = async (page: PageRequest, given: Texts) => (await eventOf(page, given))?.name ?? '';

/** Resolves to the name of a partner, or to an empty text. */
export const partnerName = async (page: PageRequest, partnerId: string | number | undefined) =>
  partnerId
    ? ((await knownPartners(page)).find(({ id }) => String(id) === String(partnerId))?.name ?? '')
    : '';
