#!/usr/bin/env bash
# Writes the metadata of the server's queries to .sqlx/, so that ordinary builds can check queries without a database.
# Run it after changing a query or a migration, and commit the result.
#
#   deploy/sqlx-prepare.sh           refresh .sqlx/
#   deploy/sqlx-prepare.sh --check   change nothing; fail if .sqlx/ is out of date
#
# It uses a temporary Postgres, migrated by migrations/*.sql, and fails on warnings of Clippy.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/toolchain.sh

case "${1:-}" in
  '' | --check) ;;
  *) sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

binaries=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$binaries" ] || binaries=$(dirname "$(command -v postgres)")

# Postgres refuses root.
as_owner=()
if [ "$(id -u)" = 0 ]; then as_owner=(setpriv --reuid=platen-db --regid=platen-db --clear-groups); fi

work=$(mktemp -d)
mkdir "$work/data" "$work/run" "$work/sqlx"
chmod 700 "$work/data" "$work/run"
chmod 711 "$work"
if [ "$(id -u)" = 0 ]; then chown platen-db: "$work/data" "$work/run"; fi

finish() {
  (cd / && "${as_owner[@]}" "$binaries/pg_ctl" -D "$work/data" -m immediate -w stop) >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT

(cd / && "${as_owner[@]}" "$binaries/initdb" -D "$work/data" -U platen --auth=trust --encoding=UTF8 --no-locale --no-sync) >/dev/null
(cd / && "${as_owner[@]}" "$binaries/pg_ctl" -D "$work/data" -w -l "$work/run/log" \
  -o "-c listen_addresses='' -c unix_socket_directories='$work/run' -c fsync=off" start) >/dev/null

export PGHOST=$work/run PGUSER=platen PGDATABASE=postgres
for migration in migrations/*.sql; do
  # As sqlx does.
  transaction=--single-transaction
  if [ "$(head -n 1 "$migration")" = '-- no-transaction' ]; then transaction=; fi
  "$binaries/psql" --no-psqlrc --quiet --set ON_ERROR_STOP=1 $transaction --file "$migration"
done

# The macros run only if the package is recompiled. All targets, as for tests: with fewer, Cargo would select other features and
# compile most dependencies twice.
touch server/core/src/lib.rs
SQLX_OFFLINE=false SQLX_OFFLINE_DIR=$work/sqlx DATABASE_URL="postgres://platen@localhost/postgres?host=$work/run" \
  cargo clippy --quiet --locked --workspace --all-targets -- -D warnings

if [ "${1:-}" = --check ]; then
  diff --recursive --brief "$work/sqlx" .sqlx || {
    echo 'sqlx-prepare: .sqlx/ is out of date; run deploy/sqlx-prepare.sh and commit it' >&2
    exit 1
  }
else
  rm -rf .sqlx
  cp -r "$work/sqlx" .sqlx
fi
