// Columns of a table of records that were matched without a run.

/** With the entities that went into others, if there are any. */
export function outcomeColumns(items: readonly object[]): string[] {
  const columns = ['outcome', 'entity', 'size']
  return items.some((item) => 'merged_from' in item) ? [...columns, 'merged_from'] : columns
}
