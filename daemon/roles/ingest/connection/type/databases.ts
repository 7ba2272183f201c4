// Connections to relational databases, warehouses and a lakehouse.
import * as z from 'zod'
import {
  type ConnectionType,
  ca,
  host,
  keyText,
  password,
  port,
  secret,
  tenantPath,
  text,
  tls,
  url,
} from './connection-type.ts'

const database = text('Database')
const schema = text('Schema').optional()
const username = text('User').optional()
const passwordAlone = z.strictObject({ password: password.optional() })

function server(name: string, usual_port: number, more: z.ZodRawShape, selects: readonly string[]): ConnectionType {
  return {
    ...{ name, category: 'relational database', selects },
    config: z.strictObject({ host, port: port(usual_port), username, tls, ca, ...more }),
    secret: passwordAlone,
  }
}

export const postgres = server('postgres', 5_432, { database, schema }, ['database', 'schema'])
export const mysql = server('mysql', 3_306, { database }, ['database'])
export const mssql = server('mssql', 1_433, { database, schema }, ['database', 'schema'])
export const oracle = server('oracle', 1_521, { service_name: text('Service'), schema }, ['service_name', 'schema'])

export const sqlite: ConnectionType = {
  ...{ name: 'sqlite', category: 'relational database', selects: [] },
  config: z.strictObject({ file: tenantPath('File of the database') }),
}

export const snowflake: ConnectionType = {
  ...{ name: 'snowflake', category: 'cloud data warehouse', selects: ['database', 'schema', 'warehouse', 'role'] },
  config: z.strictObject({
    ...{ account: text('Account, such as ORG-ACCOUNT'), username: text('User'), database, schema },
    ...{ warehouse: text('Warehouse').optional(), role: text('Role').optional() },
  }),
  secret: z.strictObject({ password: password.optional(), private_key: keyText('Private key as PEM').optional() }),
}

export const bigquery: ConnectionType = {
  ...{ name: 'bigquery', category: 'cloud data warehouse', selects: ['dataset', 'location'] },
  config: z.strictObject({
    ...{ project: text('Project'), dataset: text('Dataset').optional(), location: text('Location').optional() },
  }),
  secret: z.strictObject({ service_account: keyText('Key file of a service account, as JSON text') }),
}

export const databricks: ConnectionType = {
  ...{ name: 'databricks', category: 'lakehouse', selects: ['catalog', 'schema'] },
  config: z.strictObject({
    ...{ workspace_url: url('URL of the workspace'), http_path: text('HTTP path of the warehouse') },
    ...{ catalog: text('Catalog').optional(), schema },
  }),
  secret: z.strictObject({ access_token: secret('Access token') }),
}
