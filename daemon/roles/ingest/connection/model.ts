// The model of a connection: what leads to a source, and the sealed secret that opens it.
import * as z from 'zod'
import { classification } from '../../../kernel/label/label.ts'
import { sealedSecret } from '../../../kernel/secret/sealed-secret.ts'
import { collection, type Doc } from '../../../kernel/store/store.ts'
import { provenanceFields, provenanceViewFields, shortText, uid } from '../fields.ts'
import { connectionTypeName } from './type/catalog.ts'

const config = z
  .record(z.string().max(64), z.json())
  .meta({ description: 'Fields of the template, without its secrets; see connection_schema' })

export const connectionInputFields = {
  name: shortText,
  description: z.string().max(4_096).optional(),
  conn_type: connectionTypeName,
  config,
  classification: classification.optional(),
}

const connectionFields = {
  name: shortText,
  description: z.string().max(4_096).optional(),
  conn_type: connectionTypeName,
  config,
}

const storedConnection = z.strictObject({
  ...provenanceFields,
  ...connectionFields,
  subtype: z.literal('datapipelineconnection'),
  request_digest: z.string(),
  /** The only pipeline that reads by it; see `claimConnection`. */
  pipeline: uid.optional(),
  /** The secret fields of the template, as JSON text. */
  secret: sealedSecret.optional(),
})
export type StoredConnection = z.infer<typeof storedConnection>

export const connections = collection({
  name: 'datapipelineconnection',
  schema: storedConnection,
  indexes: ['subtype', 'conn_type', 'created_at'],
  documented: { alias: 'data-ingest', fields: { uid: 'id', subtype: 'subtype', conn_type: 'conn_type' } },
})

/** A connection as the interface shows it. */
export const connectionView = z
  .strictObject({
    uid,
    version: z.int().min(1),
    subtype: z.literal('datapipelineconnection'),
    ...provenanceViewFields,
    ...connectionFields,
    has_secret: z.boolean().meta({ description: 'Whether secret fields are set' }),
  })
  .meta({ id: 'DataPipelineConnection' })

export const connectionTest = z
  .strictObject({
    ok: z.boolean().meta({ description: 'Whether the source answered as one of its type' }),
    detail: z.string().meta({ description: 'What was found' }),
  })
  .meta({ id: 'ConnectionTest' })
export type ConnectionTest = z.infer<typeof connectionTest>

/** A connection that was just stored, with the live test of it. */
export const testedConnection = connectionView
  .extend({
    test: connectionTest,
    registration: connectionTest.optional().meta({
      description: 'Whether the scheduler has it; absent where tasks take connections from the site itself',
    }),
  })
  .meta({ id: 'TestedConnection' })

export function showConnection({ id, version, value }: Doc<StoredConnection>): z.infer<typeof connectionView> {
  const { tenant_id, label, created_by, created_at, updated_at, name, description, conn_type, subtype } = value
  return {
    ...{ uid: id, version, subtype, tenant_id, classification: label, created_by, create_ts: created_at },
    ...{ update_ts: updated_at, name, ...(description === undefined ? {} : { description }), conn_type },
    ...{ config: value.config, has_secret: value.secret !== undefined },
  }
}
