// Names of the columns of the data beside those that a result adds.

/** Returns a function that names columns; one whose name is in use gets `_` at its end. */
export function createColumnNames(own: readonly string[]): (column: string) => string {
  const used = new Set(own)
  return (column) => {
    let name = column
    while (used.has(name)) name = `${name}_`
    used.add(name)
    return name
  }
}
