// Where an owned object is served: at the path of this interface, and under both prefixes that every object has.

/** `object`: the lower-case name of the object; `rest`: what follows it, as in `/{uid}`. */
export function objectPathAliases(object: string, rest = ''): string[] {
  return ['/api/v1', '/userspace'].map((prefix) => `${prefix}/${object}${rest}`)
}
