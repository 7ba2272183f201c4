// The secret fields of a collection, derived from its schema.
import * as z from 'zod'
import type { StoredFields } from '../store/store.ts'
import { sealedSecret } from './sealed-secret.ts'

const knownFields = new WeakMap<z.ZodType, readonly string[]>()

/** Names of the top-level fields that hold a sealed secret, in any form of the document, optional or beside another form. */
export function listSecretFields({ schema }: { readonly schema: z.ZodType<StoredFields> }): readonly string[] {
  const known = knownFields.get(schema)
  if (known) return known
  const fields = listForms(schema).flatMap(({ shape }) =>
    Object.keys(shape).filter((name) => listForms(shape[name]).some(isSealedSecret)),
  )
  const distinct = [...new Set(fields)]
  knownFields.set(schema, distinct)
  return distinct
}

/** The objects that a value of the schema may be. */
function listForms(schema: unknown): readonly z.ZodObject[] {
  if (schema instanceof z.ZodObject) return [schema]
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(listForms)
  if (schema instanceof z.ZodIntersection) return [schema.def.left, schema.def.right].flatMap(listForms)
  if (schema instanceof z.ZodPipe) return [schema.in, schema.out].flatMap(listForms)
  return isWrapper(schema) ? listForms(schema.unwrap()) : []
}

function isWrapper(schema: unknown): schema is { unwrap(): unknown } {
  const wrappers = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault, z.ZodReadonly, z.ZodCatch, z.ZodLazy]
  return wrappers.some((wrapper) => schema instanceof wrapper)
}

/** Also with a description, which makes a copy of the schema. */
function isSealedSecret({ shape }: z.ZodObject): boolean {
  return shape.sealed === sealedSecret.shape.sealed
}
