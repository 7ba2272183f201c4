// How the JSON of a source becomes the fields of a signal, as a profile says it: plain paths, values, and a table for words.
import * as z from 'zod'

/** JSON Pointer (RFC 6901), never the whole document. */
export const pointer = z
  .string()
  .max(512)
  .regex(/^(\/([^/~]|~[01])*)+$/, 'must be a path such as /alert/id (JSON Pointer), or {value: …} for a constant')

const value = z.union([z.string().min(1).max(2_048), z.number()])

const from = z
  .union([
    pointer,
    z.strictObject({ value }),
    z.strictObject({
      at: pointer,
      values: z.record(z.string(), value).optional().meta({ description: 'What stands for what is found there' }),
      otherwise: value.optional().meta({ description: 'Where nothing is found, or nothing stands for it' }),
    }),
  ])
  .meta({ id: 'MappedFrom', description: 'A path, a constant, or a path with what stands for its values' })
export type From = z.infer<typeof from>

export const mapping = z
  .strictObject({
    items: pointer.optional().meta({ description: 'A list: each of it is a signal, and all paths begin there' }),
    id: pointer.optional().meta({ description: 'The sender’s own id: what has come under it is not raised again' }),
    signal_type: from,
    severity: from,
    title: from,
    subject: z.strictObject({ type: from, id: from, name: from.optional() }),
    description: from.optional(),
    detected_at: from
      .optional()
      .meta({ description: 'RFC 3339, or seconds or milliseconds since 1970; else its arrival' }),
    expires_at: from.optional(),
    confidence: from.optional(),
    reference: from.optional(),
    actor: z.strictObject({ type: from, id: from, name: from.optional() }).optional(),
    metadata: z.record(z.string().min(1).max(128), from).optional(),
  })
  .meta({ id: 'SignalMapping' })
export type Mapping = z.infer<typeof mapping>
