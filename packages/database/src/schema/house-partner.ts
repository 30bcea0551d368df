/**
 * The id of the house partner, with which the operator registers guests. `migrate` creates its row. It is the
 * last id that a partner can have. The house partner has no keys, needs no access to an event, and cannot be
 * disabled.
 */
export const HOUSE_PARTNER_ID = 2_147_483_647;
