// Where bulk dispositions are served.
import { ownedPaths } from '../../../kernel/owned.ts'

/** `rest`: what follows the noun, as in `/{uid}`. */
export function bulkPaths(rest = ''): { readonly path: string; readonly also: readonly string[] } {
  const [path = '', ...also] = ownedPaths('signal-bulk', rest)
  return { path, also }
}
