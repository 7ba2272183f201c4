// Every type of connection by name, their templates as JSON Schema, and the check of a connection by its template.
import * as z from 'zod'
import { parseJson } from '../../../../kernel/encoding/parse-json.ts'
import { type Refusal, refuse } from '../../../../kernel/error/errors.ts'
import { parseWithSchema } from '../../../../kernel/error/parsing.ts'
import type { ConnectionType } from './connection-type.ts'
import { bigquery, databricks, mssql, mysql, oracle, postgres, snowflake, sqlite } from './databases.ts'
import { awsS3, azureBlob, gcs, parquet, sharepoint } from './files.ts'
import { cassandra, couchbase, elasticsearch, mongo, redis } from './stores.ts'
import { kafka, rabbitmq, spark } from './streams.ts'

/** In the order of the interface document. */
export const connectionTypes: readonly ConnectionType[] = [
  ...[postgres, mysql, sqlite, mssql, oracle, snowflake, bigquery, databricks, mongo, couchbase, cassandra, redis],
  ...[elasticsearch, azureBlob, awsS3, gcs, sharepoint, kafka, rabbitmq, spark, parquet],
]

export const connectionTypeName = z.enum(connectionTypes.map(({ name }) => name)).meta({ description: 'Type' })
export type ConnectionConfig = Readonly<Record<string, z.core.util.JSONType>>

const byName = new Map(connectionTypes.map((each) => [each.name, each]))

export function findConnectionType(name: string): ConnectionType {
  const found = byName.get(name)
  if (!found) throw new Error(`there is no type of connection ${name}`)
  return found
}

/** The fields of both parts in one schema; those with `writeOnly` are sent in `secret`. */
export function renderTemplate({ name, config, secret }: ConnectionType): Record<string, z.core.util.JSONType> {
  const fields = z.strictObject({ ...config.shape, ...secret?.shape }).meta({ title: name })
  // Checked against the same parser: a plain copy of JSON.
  return z.record(z.string(), z.json()).parse(z.toJSONSchema(fields, { io: 'input', reused: 'inline' }))
}

/** The fields with their defaults. Faults have the path in the request, and never a value. */
export function checkConfig({ name, config }: ConnectionType, value: unknown): ConnectionConfig | Refusal {
  const parsed = parseWithSchema(config, value)
  if (parsed.success) return parsed.data as ConnectionConfig
  const errors = parsed.errors.map(({ path, message }) => ({
    path: path === '' ? 'config' : `config.${path}`,
    message,
  }))
  return refuse('invalid', `the fields do not fit the template of ${name}; see connection_schema`, errors)
}

/** Checks the secret fields, a JSON text; returns the text to seal. */
export function checkSecret({ name, secret }: ConnectionType, value: string): string | Refusal {
  const at = (message: string, path = 'secret') =>
    refuse('invalid', `the secret does not fit the template of ${name}; see connection_schema`, [{ path, message }])
  if (!secret) return at('this type has no secret fields')
  const fields = parseJson(value)
  if (fields === undefined) return at('must be a JSON object with the secret fields of the template')
  const parsed = parseWithSchema(secret, fields)
  if (parsed.success)
    return Object.keys(parsed.data).length > 0 ? JSON.stringify(parsed.data) : at('must have a field of the template')
  const [fault = { path: '', message: 'is not valid' }] = parsed.errors
  // A name that the template has not may be a part of the secret.
  return at(fault.message, fault.path in secret.shape ? `secret.${fault.path}` : 'secret')
}

/** Whether the secret of a connection may stay beside other fields: they lead to the same server, in the same way. */
export function leadsToSameServer(
  { selects }: ConnectionType,
  before: ConnectionConfig,
  after: ConnectionConfig,
): boolean {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].every(
    (name) => selects.includes(name) || JSON.stringify(before[name]) === JSON.stringify(after[name]),
  )
}
