// Paths of an owned object: the path of this interface, and both prefixes that every object has.

/** `object`: the lower-case name of the object; `rest`: the rest of the path, as in `/{uid}`. */
export function objectPathAliases(object: string, rest = ''): string[] {
  return ['/api/v1', '/userspace'].map((prefix) => `${prefix}/${object}${rest}`)
}
