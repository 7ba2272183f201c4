// Where silences are served.
import { ownedPaths } from '../../../kernel/owned.ts'

/** `rest`: what follows the noun, as in `/{uid}`. */
export function silencePaths(rest = ''): { readonly path: string; readonly also: readonly string[] } {
  const [path = '', ...also] = ownedPaths('signal-silence', rest)
  return { path, also }
}
