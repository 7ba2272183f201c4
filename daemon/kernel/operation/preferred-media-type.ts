// Selects the media type of a response.

/**
 * The first accepted type that is offered; the first offered type where the client accepts any type, or none of
 * these.
 */
export function preferredMediaType<T extends string>(accepts: readonly string[], available: readonly [T, ...T[]]): T {
  for (const accepted of accepts) {
    const match = available.find((type) => accepted === type || accepted === `${type.split('/')[0]}/*`)
    if (match) return match
    if (accepted === '*/*') break
  }
  return available[0]
}
