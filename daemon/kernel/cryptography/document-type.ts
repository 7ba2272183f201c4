// The types of documents of roles: a role declares them, and the site signs them with its message key for that role alone.
import * as z from 'zod'
import { isPlatformSignature } from './signatures.ts'

/** The form of a name; whether a role declares the type, `DocumentTypes` tells. */
export const documentType = z.string().regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be lower-case letters, digits and hyphens')

/** The role that declares a type, by the type. */
export type DocumentTypes = ReadonlyMap<string, string>

/** Joins the types of the roles. Throws for a malformed name, one of the platform itself, or one of two roles. */
export function joinDocumentTypes(
  signers: readonly { readonly name: string; readonly signs?: readonly string[] }[],
): DocumentTypes {
  const types = new Map<string, string>()
  for (const { name, signs = [] } of signers) {
    for (const type of signs) {
      if (!documentType.safeParse(type).success)
        throw new TypeError(`the role ${name} signs documents of a malformed type "${type}"`)
      if (isPlatformSignature(type))
        throw new TypeError(`the role ${name} signs "${type}", which the platform itself signs`)
      const other = types.get(type)
      if (other !== undefined) throw new TypeError(`the roles ${other} and ${name} sign documents of type "${type}"`)
      types.set(type, name)
    }
  }
  return types
}
