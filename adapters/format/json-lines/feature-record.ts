// A feature of GeoJSON (RFC 7946) as a record: its properties, with its id and its geometry.

const feature_id = 'feature_id'
const geometry = 'geometry'

/**
 * Returns the record, or what is wrong with the feature. `geometry` is the geometry as JSON text, null where it has none. `feature_id` is absent for a feature
 * without an id. A property of one of these two names is refused, since one of both would be lost.
 */
export function toFeatureRecord(item: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> | string {
  const { type, id, properties, geometry: shape } = item
  if (type !== 'Feature') return 'the item is not a feature: its type is not "Feature"'
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number')
    return 'the id of the feature is not a text or a number'
  if (typeof properties !== 'object' || Array.isArray(properties)) return 'the feature has no object of properties'
  if (typeof shape !== 'object' || Array.isArray(shape))
    return 'the feature has no geometry: it must be an object or null'
  for (const name of [feature_id, geometry])
    if (properties !== null && name in properties)
      return `the feature has a property ${name}, and the record a column of that name`
  return {
    ...(id === undefined ? {} : { [feature_id]: id }),
    ...properties,
    [geometry]: shape === null ? null : JSON.stringify(shape),
  }
}
