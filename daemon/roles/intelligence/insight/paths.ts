// Where insights are served.
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'

/** `rest`: what follows the noun, as in `/{uid}`. */
export function insightPaths(rest = ''): { readonly path: string; readonly also: readonly string[] } {
  const [path = '', ...also] = objectPathAliases('insight', rest)
  return { path, also }
}
