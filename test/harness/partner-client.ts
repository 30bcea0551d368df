import { strictReader } from './described.ts';
import type { Fixture } from './fixture.ts';
import { assertNothingPrivate, keepPrivate, privateIn } from './private-data.ts';

/** An answer to a partner. */
export interface Answer {
  status: number;
  headers: Headers;
  /** The body as text. */
  text: string;
  body: { responseCode: string; responseMessage: string; responseData: unknown };
}

/** A partner's platform, which calls the API over HTTP. */
export class PartnerClient {
  readonly #baseUrl: string;
  readonly #headers: Record<string, string>;

  constructor(baseUrl: string, { secretKey, eventRef }: Pick<Fixture, 'secretKey' | 'eventRef'>) {
    this.#baseUrl = baseUrl;
    this.#headers = { 'x-secret-key': secretKey, 'x-event-ref': eventRef };
  }

  register(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('/api/v1/events/register', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  registerBulk(
    registrations: unknown[],
    mode = 'each',
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    return this.request('/api/v1/events/register/bulk', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ registrations, mode }),
    });
  }

  /** Sends a JSON body to an operation below /api/v1/events. */
  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request(`/api/v1/events${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  reset(): Promise<Answer> {
    return this.request('/api/v1/events/reset', { method: 'POST' });
  }

  tickets(): Promise<Answer> {
    return this.request('/api/v1/events/tickets');
  }

  registration(passReference: string): Promise<Answer> {
    return this.request(`/api/v1/events/registrations/${encodeURIComponent(passReference)}`);
  }

  /** Requests JSON unless the headers say otherwise. For pictures, use fetch. */
  pass(passReference: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request(`/api/v1/events/registrations/${encodeURIComponent(passReference)}/pass`, {
      headers,
    });
  }

  revoked(query = ''): Promise<Answer> {
    return this.request(`/api/v1/events/passes/revoked${query}`);
  }

  cancel(passReference: string): Promise<Answer> {
    return this.request(`/api/v1/events/registrations/${encodeURIComponent(passReference)}/cancel`, {
      method: 'POST',
    });
  }

  confirm(passReference: string): Promise<Answer> {
    return this.request(`/api/v1/events/registrations/${encodeURIComponent(passReference)}/confirm`, {
      method: 'POST',
    });
  }

  /**
   * Sends a request with the partner's headers, which `headers` can override. A failure must not quote the
   * request's data, and the OpenAPI document must describe the answer.
   */
  async request(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const headers = { ...this.#headers, ...init.headers };
    const sent = privateIn(headers, init.body);
    keepPrivate(sent);
    const response = await fetch(`${this.#baseUrl}${path}`, { ...init, headers });
    const text = await response.text();
    if (!response.ok) assertNothingPrivate(path, JSON.stringify([...response.headers]) + text, sent);
    const { status, headers: answered } = response;
    const body = JSON.parse(text) as Answer['body'];
    strictReader().assertDescribed(init.method ?? 'GET', path, { status, headers: answered, body });
    return { status, headers: answered, text, body };
  }
}

/** Returns a valid registration with the given changes. */
export function attendee(ticketId: number, differing: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    fullName: 'Jane Doe',
    emailAddress: 'jane.doe@example.com',
    phoneNumber: '+1 (555) 010-0199',
    gender: 'Female',
    tableOrSeat: 'Table 4',
    organizedEventTicketID: ticketId,
    extraData1: 'vegetarian',
    extraData2: '',
    ...differing,
  };
}
