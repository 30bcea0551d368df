-- The house partner, with which the operator registers guests: see packages/database/src/schema/house-partner.ts.
-- It has the last id but one that a partner can have, because the journal looks for entries before the next id. So the
-- ids of other partners stay 1, 2, 3, and no sequence reaches it. A partner may have one of the names already: then the
-- next statement adds the row.
insert into partners (id, name) overriding system value values (2147483646, 'House') on conflict do nothing;
insert into partners (id, name) overriding system value values (2147483646, 'House (operator)') on conflict do nothing;
insert into partners (id, name) overriding system value values (2147483646, 'House 2147483646') on conflict do nothing;
