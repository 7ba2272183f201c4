// Where bulk dispositions are served.
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'

type BulkOperationPaths = { readonly path: string; readonly also: readonly string[] }

/** `rest`: what follows the noun, as in `/{uid}`. */
export const bulkPaths = (rest = ''): BulkOperationPaths => buildPaths('signal-bulk', rest)

/** Beside the others: among them it would be an id. */
export const planPaths = (): BulkOperationPaths => buildPaths('signal-bulk-plan')

function buildPaths(noun: string, rest = ''): BulkOperationPaths {
  const [path = '', ...also] = objectPathAliases(noun, rest)
  return { path, also }
}
