// Shows the template of a type of connection.
import * as z from 'zod'
import { operation } from '../../../kernel/operation/operation.ts'
import { connectionTypeName, findConnectionType, renderTemplate } from './type/catalog.ts'
import { isReadable } from './type/readable.ts'

export const schema = operation({
  summary: 'Show the template of a type of connection as JSON Schema',
  method: 'GET',
  tool: 'connection_schema',
  input: z.strictObject({ conn_type: connectionTypeName }),
  output: z
    .strictObject({
      conn_type: connectionTypeName,
      category: z.string(),
      is_readable: z.boolean().meta({ description: 'Whether the embedded scheduler reads it' }),
      template: z.record(z.string(), z.json()).meta({
        description: 'JSON Schema of all fields; those with writeOnly are secrets, which a person sends by the path',
      }),
    })
    .meta({ id: 'ConnectionTemplate' }),
  errors: [],
  allow: 'ingest:read',

  async run(_call, { conn_type }) {
    const type = findConnectionType(conn_type)
    return {
      ...{ conn_type, category: type.category, is_readable: isReadable(conn_type) },
      template: renderTemplate(type),
    }
  },
})
