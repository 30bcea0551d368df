import { Type } from '@sinclair/typebox';
import { defineAction, oneOf, text } from '@floodgate/audit';
import { grantPrivileges, SERVICES } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';

const REFUSALS = {
  'no-such-role': 'no such login role; create it first: create role … login password …',
  'too-powerful':
    'this role is an administrator, owns something or is a member of another role; create a separate ' +
    'role for the service',
};

const Service = oneOf(SERVICES, SERVICES.join(' or '));

/** Grants a login role the privileges that a service needs in the database, and no others. */
export const grantAction = defineAction({
  name: 'role.grant',
  input: Type.Object({ service: Service, role: text(1, 63) }),
  run: async (transaction, { service, role }, note) => {
    const outcome = await grantPrivileges(transaction, service, role);
    if (outcome === 'no-such-role' || outcome === 'too-powerful') throw new Failure(REFUSALS[outcome]);
    note(`role:${role}`, { after: { service } });
    return { outcome, service, role };
  },
});
