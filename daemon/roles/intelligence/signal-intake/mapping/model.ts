// The mapping of a source's JSON to the fields of a signal: paths, constants, and tables of replacements.
import * as z from 'zod'

/** JSON Pointer (RFC 6901), never the whole document. */
const jsonPointer = z
  .string()
  .max(512)
  .regex(/^(\/([^/~]|~[01])*)+$/, 'must be a path such as /alert/id (JSON Pointer), or {value: …} for a constant')

const constantValue = z.union([z.string().min(1).max(2_048), z.number()])

const fieldMapping = z
  .union([
    jsonPointer,
    z.strictObject({ value: constantValue }),
    z.strictObject({
      at: jsonPointer,
      values: z
        .record(z.string(), constantValue)
        .optional()
        .meta({ description: 'Replacement for each value found at the path' }),
      otherwise: constantValue
        .optional()
        .meta({ description: 'Used if the path has no value, or the value has no replacement' }),
    }),
  ])
  .meta({ id: 'MappedFrom', description: 'A path, a constant, or a path with replacements for its values' })
export type FieldMapping = z.infer<typeof fieldMapping>

export const signalMapping = z
  .strictObject({
    items: jsonPointer
      .optional()
      .meta({ description: 'Path of a list: each item is a signal, and all other paths begin in the item' }),
    id: jsonPointer.optional().meta({ description: 'Path of the ID at the sender: each ID is raised once' }),
    signal_type: fieldMapping,
    severity: fieldMapping,
    title: fieldMapping,
    subject: z.strictObject({ type: fieldMapping, id: fieldMapping, name: fieldMapping.optional() }),
    description: fieldMapping.optional(),
    detected_at: fieldMapping
      .optional()
      .meta({ description: 'RFC 3339, or seconds or milliseconds since 1970; default: the time of arrival' }),
    expires_at: fieldMapping.optional(),
    confidence: fieldMapping.optional(),
    reference: fieldMapping.optional(),
    actor: z.strictObject({ type: fieldMapping, id: fieldMapping, name: fieldMapping.optional() }).optional(),
    metadata: z.record(z.string().min(1).max(128), fieldMapping).optional(),
  })
  .meta({ id: 'SignalMapping' })
export type SignalMapping = z.infer<typeof signalMapping>
