// Where silences are served.
import { objectPathAliases } from '../../../shared/object-path/object-path-aliases.ts'

/** `rest`: what follows the noun, as in `/{uid}`. */
export function silencePaths(rest = ''): { readonly path: string; readonly also: readonly string[] } {
  const [path = '', ...also] = objectPathAliases('signal-silence', rest)
  return { path, also }
}
