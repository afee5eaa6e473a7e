-- Functions in SQL are planned anew in each statement, those in PL/pgSQL once in a session.
create or replace function reserved_credits(of_account uuid) returns bigint language plpgsql volatile as $$
begin
    return coalesce((select credits from credit_reservations where account_id = of_account), 0);
end
$$;
