import { Type } from '@sinclair/typebox';

/** What API and delivery process both read. */
export const allowPrivateSetting = {
  WEBHOOK_ALLOW_PRIVATE: Type.Union([Type.Literal('true'), Type.Literal('false')], {
    default: 'false',
    description:
      'true or false; for development alone: webhooks may be http, and reach private addresses and this machine itself',
  }),
};
