// Makes a Postman collection (format v2.1) of the OpenAPI document, in which a request can be sent as soon as
// the variables are set: Get Tickets keeps a ticket's id, Register For Event a pass reference, Create Webhook
// its id, and the others use them. Get Tickets does not list a ticket that is sold out, so soldOutTicketId is
// that of the demo of `npm start`. For another event it is set by hand.

interface Content {
  'application/json': {
    example?: object;
    examples?: Record<string, { summary: string; value: { responseCode: string } }>;
  };
}

interface Parameter {
  in: string;
  name: string;
  required: boolean;
  description: string;
  /** Missing if it is optional. */
  example?: string;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content: Content }>;
}

export interface DescribedApi {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
}

/** What a successful answer is kept for, by operation. */
const KEPT: Record<string, Record<string, string>> = {
  getTickets: { ticketId: 'answer.responseData[0].id' },
  registerForEvent: { passReference: 'answer.responseData' },
  changeAttendee: { passReference: 'answer.responseData' },
  listRegistrations: { cursor: 'answer.responseData.cursor' },
  holdSeats: {
    holdReference: 'answer.responseData.holdReference',
    heldPassReference: 'answer.responseData.seats[0].passReference',
  },
  joinWaitingList: { entry: 'answer.responseData.entry' },
  createWebhook: { webhookId: 'answer.responseData.id' },
};

/**
 * Sent in order, each finds what it needs: a pass needs a registration that is confirmed, and not cancelled
 * yet. A seat is released before its hold is confirmed.
 */
const LAST = [
  'addSeats',
  'releaseHold',
  'confirmHold',
  'confirmHolds',
  'getPass',
  'cancelRegistration',
  'cancelRegistrations',
  'deleteWebhook',
];

/** In a folder of its own, the last: it frees the seats of the ticket that is sold out. */
const RESET = 'resetTestEvent';

/** Values of parameters: of optional ones, and of those whose example is not what to send. */
const VALUES: Record<string, string> = {
  'x-event-ref': '{{eventRef}}',
  'idempotency-key': '{{$guid}}',
  'hold-for': '900',
  'x-error-details': 'json',
  limit: '100',
  state: 'confirmed',
  passReference: '{{passReference}}',
  webhookId: '{{webhookId}}',
  after: '{{cursor}}',
  holdReference: '{{holdReference}}',
  entry: '{{entry}}',
  partnerReference: 'order-4711',
  include: 'partnerReference',
};

/** Changes to bodies whose example is not what to send. Undefined: left out. */
const BODIES: Record<string, Record<string, unknown>> = {
  confirmHold: { attendees: undefined },
  confirmHolds: {
    holds: [
      {
        holdReference: '{{holdReference}}',
        contact: { fullName: 'Jane Doe', emailAddress: 'jane@example.com' },
      },
    ],
  },
  cancelRegistrations: { passReferences: ['{{passReference}}'] },
  releaseHold: { passReferences: ['{{heldPassReference}}'] },
  joinWaitingList: { organizedEventTicketID: '{{soldOutTicketId}}' },
};

const VARIABLES = {
  baseUrl: 'http://127.0.0.1:3000',
  secretKey: '',
  eventRef: '',
  // The demo of `npm start`.
  soldOutTicketId: '3',
  ticketId: '1',
  passReference: '',
  holdReference: '',
  heldPassReference: '',
  entry: '',
  webhookId: '',
  cursor: '0',
};

/** Returns the collection. */
export function postmanCollection({ info, tags, paths }: DescribedApi): object {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return {
    info: {
      name: `${info.title} ${info.version}`,
      description: info.description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'in', value: 'header', type: 'string' },
        { key: 'key', value: 'x-secret-key', type: 'string' },
        { key: 'value', value: '{{secretKey}}', type: 'string' },
      ],
    },
    variable: Object.entries(VARIABLES).map(([key, value]) => ({ key, value, type: 'string' })),
    item: [...tags, { name: 'Reset', description: 'Starts a test event again.' }].map(
      ({ name, description }) => ({
        name,
        description,
        item: operations
          .filter(({ operation }) => folderOf(operation) === name)
          .toSorted((a, b) => LAST.indexOf(a.operation.operationId) - LAST.indexOf(b.operation.operationId))
          .map(({ path, method, operation }) => describeItem(path, method, operation)),
      }),
    ),
  };
}

const folderOf = ({ operationId, tags }: Operation) => (operationId === RESET ? 'Reset' : tags[0]);

function describeItem(path: string, method: string, operation: Operation): object {
  const request = describeRequest(path, method, operation);
  return {
    name: operation.summary,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: scriptOf(operation.operationId) } }],
    request,
    response: Object.entries(operation.responses).flatMap(([status, { content }]) =>
      Object.values(content['application/json'].examples ?? {}).map(({ summary, value }) => ({
        name: summary,
        originalRequest: request,
        code: Number(status),
        header: [{ key: 'content-type', value: 'application/json; charset=utf-8' }],
        _postman_previewlanguage: 'json',
        body: JSON.stringify(value, null, 2),
      })),
    ),
  };
}

function describeRequest(
  path: string,
  method: string,
  { operationId, description, parameters, requestBody }: Operation,
): object {
  const those = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, example, required, description: words }) => ({
        key: name,
        value: VALUES[name] ?? example,
        description: words,
        // Shown, but sent only if it is ticked: a filter hides entries, and Hold-For makes a seat expire.
        ...(!required && { disabled: true }),
      }));
  const asVariables = path.replaceAll(/\{(\w+)\}/g, ':$1');
  return {
    method: method.toUpperCase(),
    description,
    header: [
      ...(requestBody ? [{ key: 'content-type', value: 'application/json' }] : []),
      ...those('header'),
    ],
    url: {
      raw: `{{baseUrl}}${asVariables}`,
      host: ['{{baseUrl}}'],
      path: asVariables.split('/').slice(1),
      query: those('query'),
      variable: those('path'),
    },
    ...(requestBody && {
      body: {
        mode: 'raw',
        raw: bodyOf({ ...requestBody.content['application/json'].example, ...BODIES[operationId] }),
        options: { raw: { language: 'json' } },
      },
    }),
  };
}

const bodyOf = (example: object) =>
  JSON.stringify(example, null, 2)
    .replaceAll(/("organizedEventTicketID": )\d+/g, '$1{{ticketId}}')
    .replace('"{{soldOutTicketId}}"', '{{soldOutTicketId}}');

function scriptOf(operationId: string): string[] {
  return [
    'const answer = pm.response.json();',
    `pm.test('answered 00', () => pm.expect(answer.responseCode).to.equal('00'));`,
    ...Object.entries(KEPT[operationId] ?? {}).map(
      ([variable, value]) =>
        `if (answer.responseCode === '00') pm.collectionVariables.set('${variable}', ${value});`,
    ),
  ];
}
