// Where insights are served.
import { ownedPaths } from '../../../kernel/owned.ts'

/** `rest`: what follows the noun, as in `/{uid}`. */
export function insightPaths(rest = ''): { readonly path: string; readonly also: readonly string[] } {
  const [path = '', ...also] = ownedPaths('insight', rest)
  return { path, also }
}
