// Where bulk dispositions are served.
import { ownedPaths } from '../../../kernel/owned.ts'

type Paths = { readonly path: string; readonly also: readonly string[] }

/** `rest`: what follows the noun, as in `/{uid}`. */
export const bulkPaths = (rest = ''): Paths => pathsOf('signal-bulk', rest)

/** Beside the others: among them it would be an id. */
export const planPaths = (): Paths => pathsOf('signal-bulk-plan')

function pathsOf(noun: string, rest = ''): Paths {
  const [path = '', ...also] = ownedPaths(noun, rest)
  return { path, also }
}
