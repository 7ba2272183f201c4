// Names of collections: what every store can give to a table, an index or an alias.

/** Words of lower-case letters and digits, joined by single underscores or hyphens. */
const namePattern = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/

/** Throws for a name that some store could not use: a mistake of the program. */
export function requireCollectionName(name: string): string {
  if (!namePattern.test(name)) throw new Error(`a collection cannot be named ${name}`)
  return name
}
