// What the catalog of PostgreSQL says about a table: that it is there, and its columns.
import { nameSome, RowSourceError } from '../../../daemon/shared/row-source/row-source.ts'
import type { PostgresSession } from './postgres-session.ts'

export type TableName = { readonly schema: string; readonly name: string }

export type TableColumn = {
  readonly name: string
  /** Of the type below its domains. */
  readonly type_oid: number
  readonly type_name: string
  /** Whether its values are of few bytes by their type. */
  readonly is_bounded: boolean
  /** Whether `octet_length` takes it as it is. */
  readonly has_plain_size: boolean
}

/** Ordinary and partitioned tables, views, materialized views and foreign tables. */
const kinds = "('r', 'p', 'v', 'm', 'f')"
/** Names are compared as texts: the server would cut longer ones. */
const inSchema = `FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname::text = $1 AND c.relkind IN ${kinds}`

/** Throws `RowSourceError` with the tables that there are. */
export async function requireTable(session: PostgresSession, table: TableName, signal: AbortSignal): Promise<void> {
  const found = await session.query(`SELECT 1 ${inSchema} AND c.relname::text = $2`, [table.schema, table.name], signal)
  if (found.length > 0) return
  const some = await session.query(`SELECT c.relname ${inSchema} ORDER BY 1 LIMIT 20`, [table.schema], signal)
  const names = some.map(([name]) => name ?? '')
  throw new RowSourceError(
    `the schema ${nameSome([table.schema])} has no table ${nameSome([table.name])}: it has ${nameSome(names)}`,
  )
}

/** A domain may be of a domain; its values are those of the first type that is none. */
const columnsQuery = `SELECT a.attname, b.oid, (b.typlen > 0 OR b.oid = 1700)::int, (b.oid IN (17, 25, 1042, 1043))::int,
    format_type(b.oid, NULL)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL (
    WITH RECURSIVE base(oid, typlen, typbasetype) AS (
      SELECT t.oid, t.typlen, t.typbasetype FROM pg_type t WHERE t.oid = a.atttypid
      UNION ALL SELECT t.oid, t.typlen, t.typbasetype FROM base JOIN pg_type t ON t.oid = base.typbasetype
    ) SELECT oid, typlen FROM base WHERE typbasetype = 0
  ) b
  WHERE n.nspname::text = $1 AND c.relname::text = $2 AND c.relkind IN ${kinds} AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY a.attnum`

export async function listColumns(
  session: PostgresSession,
  { schema, name }: TableName,
  signal: AbortSignal,
): Promise<readonly TableColumn[]> {
  const rows = await session.query(columnsQuery, [schema, name], signal)
  return rows.map(([column, oid, is_bounded, has_plain_size, type_name]) => ({
    ...{ name: column ?? '', type_oid: Number(oid), type_name: type_name ?? '' },
    ...{ is_bounded: is_bounded === '1', has_plain_size: has_plain_size === '1' },
  }))
}
