import { answersOf, COMMON_FAILURES, success } from '@floodgate/contract';
import type { Routes } from '@floodgate/http';
import { Type } from '@sinclair/typebox';

const Feedback = Type.Object({
  text: Type.String({
    minLength: 1,
    maxLength: 1_000,
    description: 'Required, 1 to 1,000 characters',
    examples: ['The doors opened late'],
  }),
});

/** POST /events/feedback: takes what a partner has to say of an event. */
export function addFeedbackRoute(
  api: Routes,
  take: (partnerId: number, eventId: number, text: string) => Promise<number>,
): void {
  api.post(
    '/events/feedback',
    {
      schema: {
        operationId: 'giveFeedback',
        tags: ['Events'],
        summary: 'Give Feedback',
        description: 'Takes what a partner has to say of an event.',
        failures: [...COMMON_FAILURES, '11'],
        body: Feedback,
        response: answersOf(Type.Integer({ examples: [1] })),
      },
    },
    async ({ principal, body }) => success(await take(principal.partnerId, principal.eventId, body.text)),
  );
}
