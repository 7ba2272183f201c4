// The secret fields of a collection, derived from its schema.
import * as z from 'zod'
import type { StoredFields } from '../store/store.ts'
import { sealedSecret } from './sealed-secret.ts'

const knownFields = new WeakMap<z.ZodType, readonly string[]>()

/** Names of the top-level fields that hold a sealed secret, optional or beside another form. */
export function listSecretFields({ schema }: { readonly schema: z.ZodType<StoredFields> }): readonly string[] {
  const known = knownFields.get(schema)
  if (known) return known
  const shape: Readonly<Record<string, unknown>> = schema instanceof z.ZodObject ? schema.shape : {}
  const fields = Object.keys(shape).filter((name) => holdsSealedSecret(shape[name]))
  knownFields.set(schema, fields)
  return fields
}

function holdsSealedSecret(schema: unknown): boolean {
  if (schema === sealedSecret) return true
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return holdsSealedSecret(schema.unwrap())
  return schema instanceof z.ZodUnion && schema.options.some(holdsSealedSecret)
}
