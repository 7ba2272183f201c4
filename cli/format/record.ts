// Formats records of a registry: their names and values.

/** `east/A048`, from a reference of the API. */
export function formatRecordRef(ref: unknown): string {
  const { node_id, record_id } = ref as { readonly node_id: string; readonly record_id: string }
  return `${node_id}/${record_id}`
}

export function formatFieldValues(values: unknown): string {
  return Object.entries(values as Readonly<Record<string, string>>)
    .map(([field, value]) => `${field}=${value}`)
    .join(', ')
}
