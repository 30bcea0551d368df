-- The house partner, with which the operator registers guests: see packages/database/src/schema/house-partner.ts.
-- It has the last id that a partner can have, so the ids of other partners stay 1, 2, 3, and no sequence reaches it.
-- A partner may have one of the names already: then the next statement inserts the row.
insert into partners (id, name) overriding system value values (2147483647, 'House') on conflict do nothing;
insert into partners (id, name) overriding system value values (2147483647, 'House (operator)') on conflict do nothing;
insert into partners (id, name) overriding system value values (2147483647, 'House 2147483647') on conflict do nothing;
