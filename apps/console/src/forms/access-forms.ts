import type { PageRequest } from '../add-page.ts';
import type { Texts } from '../view/html.ts';
import type { FormDefinitions } from './definitions.ts';
import { accessOf, eventName, operatorOf } from './subjects.ts';

/** Resolves to the sentence that says which operator it is, and which role it has. */
async function aboutOperator(page: PageRequest, given: Texts) {
  const operator = await operatorOf(page, given);
  if (!operator) return [];
  const { about, values } = page.words;
  return [
    operator.role ? about.operator(operator.name, values[operator.role] ?? operator.role) : operator.name,
  ];
}

/** Resolves to the settings of an operator as its form has them. */
async function settingsOf(page: PageRequest, given: Texts) {
  const operator = await operatorOf(page, given);
  return operator && { role: operator.role, email: operator.email, disabled: operator.disabledAt !== null };
}

const aboutWith =
  (follows: (about: PageRequest['words']['about']) => string) => async (page: PageRequest, given: Texts) => [
    ...(await aboutOperator(page, given)),
    follows(page.words.about),
  ];

export const accessForms = {
  operatorCreate: { about: (page) => Promise.resolve([page.words.about.newOperator]) },
  operatorUpdate: {
    parts: {
      role: { fields: ['role'], about: aboutWith((about) => about.role) },
      email: { fields: ['email'], about: aboutWith((about) => about.operatorEmail) },
      disable: { fields: [], isDangerous: true, about: aboutWith((about) => about.operatorDisable) },
      enable: { fields: [], about: aboutWith((about) => about.operatorEnable) },
    },
    current: settingsOf,
    about: aboutOperator,
  },
  operatorResetPassword: { isDangerous: true, about: aboutWith((about) => about.resetPassword) },
  operatorSignOut: { about: aboutWith((about) => about.signOut) },
  operatorGrant: {
    subject: [],
    about: async (page, given) => [...(await aboutOperator(page, given)), await eventName(page, given)],
  },
  operatorRevoke: {
    about: async (page, given) => [
      ...(await aboutOperator(page, given)),
      await eventName(page, given),
      page.words.about.takesRole,
    ],
  },
  tokenCreate: {
    fields: ['name', 'scopes', 'eventIds', 'expiresAt'],
    about: (page) => Promise.resolve([page.words.about.secretOnce]),
  },
  accessRevoke: {
    isDangerous: true,
    about: async (page, given) => {
      const access = await accessOf(page, given);
      const { about } = page.words;
      return [
        access && (access.kind === 'token' ? about.token : about.session)(access.name),
        about.accessRevoke,
      ];
    },
  },
} satisfies FormDefinitions;
