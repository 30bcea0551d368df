/**
 * The subjects of operations. `attendees`: names, addresses and answers of people. `access`: operators,
 * sessions and tokens.
 */
const AREAS = [
  'events',
  'tickets',
  'partners',
  'registrations',
  'attendees',
  'webhooks',
  'mail',
  'passes',
  'door',
  'queue',
  'audit',
  'access',
] as const;

export type Area = (typeof AREAS)[number];

export type Scope = `${Area}:${'read' | 'write'}`;

export const SCOPES = AREAS.flatMap((area): Scope[] => [`${area}:read`, `${area}:write`]);

/**
 * The scopes of each role of a person. A viewer sees nothing about attendees. A door manager sees them, to
 * help people at the door, and changes only what belongs to the doors.
 */
export const ROLES = {
  viewer: SCOPES.filter((scope) => scope.endsWith(':read') && scope !== 'attendees:read'),
  'door-manager': [
    'events:read',
    'tickets:read',
    'registrations:read',
    'attendees:read',
    'door:read',
    'door:write',
  ],
  operator: SCOPES.filter((scope) => scope !== 'access:write'),
  owner: SCOPES,
} satisfies Record<string, readonly Scope[]>;

export type Role = keyof typeof ROLES;

export const ROLE_NAMES = Object.keys(ROLES) as Role[];

/** The role of an operator for one event. */
export interface EventRole {
  eventId: number;
  role: Role;
}

/** Returns the scopes of a role. A role of a later release has none. */
export const scopesOf = (role: string | null): readonly Scope[] =>
  role !== null && Object.hasOwn(ROLES, role) ? ROLES[role as Role] : [];

/** The person or machine that uses the console or the operator API. */
export interface OperatorPrincipal {
  /** The id of the session or token. */
  accessId: string;
  /** Null: a machine. */
  operatorId: number | null;
  /** As in the audit log. */
  name: string;
  /** The role for all events. Null: none, or a machine. */
  role: Role | null;
  /** For all events, and for what belongs to no event. */
  scopes: readonly Scope[];
  /** For these events, in addition. */
  eventScopes: ReadonlyMap<number, readonly Scope[]>;
}

/** Returns whether the operator has a scope for all events. */
export const mayUse = ({ scopes }: OperatorPrincipal, scope: Scope) => scopes.includes(scope);

/** Returns whether the operator has a scope for this event. */
export const mayUseFor = (operator: OperatorPrincipal, scope: Scope, eventId: number) =>
  mayUse(operator, scope) || (operator.eventScopes.get(eventId)?.includes(scope) ?? false);

/** Returns the events for which the operator has a scope. Undefined: all. */
export function eventsWith(operator: OperatorPrincipal, scope: Scope): number[] | undefined {
  if (mayUse(operator, scope)) return undefined;
  const named = [...operator.eventScopes];
  return named.filter(([, scopes]) => scopes.includes(scope)).map(([eventId]) => eventId);
}

/** Returns whether the operator has a scope for an event at least. */
export const mayUseSomewhere = (operator: OperatorPrincipal, scope: Scope) =>
  eventsWith(operator, scope)?.length !== 0;
