// The two paths under which an operation on an object of this role is served.
import { objectPathAliases } from '../../shared/object-path/object-path-aliases.ts'

/** `object`: the lower-case name of the object; `rest`: the path after it, such as `/{uid}`. */
export function objectPaths(object: string, rest = ''): { readonly path: string; readonly also: readonly string[] } {
  const [path = '', ...also] = objectPathAliases(object, rest)
  return { path, also }
}
