import { Type } from '@sinclair/typebox';
import { defineAction, text } from '@floodgate/audit';
import { grantPrivileges, SERVICES } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';

const REFUSALS = {
  'no-such-role': 'no such login role; make it first: create role … login password …',
  'too-powerful':
    'this role is an administrator, owns something or is a member of another role; a service needs one of its own',
};

/** Gives a login role what a service needs of the database, and nothing else. */
export const grantAction = defineAction({
  name: 'role.grant',
  input: Type.Object({
    service: Type.Union(
      SERVICES.map((service) => Type.Literal(service)),
      { description: SERVICES.join(' or ') },
    ),
    role: text(1, 63),
  }),
  run: async (transaction, { service, role }) => {
    const outcome = await grantPrivileges(transaction, service, role);
    if (outcome === 'no-such-role' || outcome === 'too-powerful') throw new Failure(REFUSALS[outcome]);
    return { result: outcome, changes: [{ subject: `role:${role}`, after: { service } }] };
  },
});

/** Throws, saying what to do: the role was granted what it needs, and this stays. */
export function refuseToCreate(): never {
  throw new Failure(
    'granted, but everybody may still create things in this database, and the user in DATABASE_URL cannot revoke that: ' +
      'only its owner, or whoever has granted it, can',
  );
}
