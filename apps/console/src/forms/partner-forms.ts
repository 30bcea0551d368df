import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { keyOf, partnerName, partnerOf } from './subjects.ts';

/** Resolves to the sentence that says which partner it is, and how many keys and events it has. */
async function aboutPartner(page: PageRequest, given: Texts) {
  const partner = await partnerOf(page, given);
  const { format, words } = page;
  if (!partner) return [];
  return [
    words.about.partner(partner.name, format.number(partner.openKeys), format.number(partner.grantedEvents)),
  ];
}

/** Resolves to the sentence that says whose key it is, and when it was used. */
async function aboutKey(page: PageRequest, given: Texts) {
  const key = await keyOf(page, given);
  if (!key) return [];
  const name = await partnerName(page, key.partnerId);
  const used = key.lastUsedAt
    ? page.words.about.lastUsed(page.format.timeText(key.lastUsedAt))
    : page.words.about.neverUsed;
  return [page.words.about.key(name, page.words.values[key.mode] ?? key.mode, key.keyId), used];
}

const ENABLES = 'false';

export const partnerForms = {
  partnerCreate: {
    next: ({ id }) => `/partners/${id}`,
    about: (page) => Promise.resolve([page.words.about.newPartner]),
  },
  partnerContact: { current: partnerOf, about: aboutPartner },
  partnerLimit: { current: partnerOf, about: aboutPartner },
  partnerWeigh: { current: partnerOf, about: aboutPartner },
  partnerDisable: {
    texts: ({ disabled }) => (disabled === ENABLES ? 'partnerDisable/enable' : 'partnerDisable'),
    isDangerous: ({ disabled }) => disabled !== ENABLES,
    about: async (page, given) => {
      const { about } = page.words;
      return [
        ...(await aboutPartner(page, given)),
        given['disabled'] === ENABLES ? about.enables : about.disables,
      ];
    },
  },
  keyIssue: {
    about: async (page, given) => [...(await aboutPartner(page, given)), page.words.about.secretOnce],
  },
  keyRotate: { about: async (page, given) => [...(await aboutKey(page, given)), page.words.about.rotates] },
  keyRevoke: {
    isDangerous: true,
    about: async (page, given) => [...(await aboutKey(page, given)), page.words.about.revokesKey],
  },
} satisfies FormDefinitions;
