/**
 * The id of the house partner, with which the operator registers guests. `migrate` creates its row. It is the
 * last id but one that a partner can have, because the journal looks for entries before the next id. The house
 * partner has no keys, needs no access to an event, and cannot be disabled.
 */
export const HOUSE_PARTNER_ID = 2_147_483_646;
