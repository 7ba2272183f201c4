// Which of the media types that are offered a client likes best.

/** The first type that the client accepts; the first that is offered where it accepts anything, or nothing of these. */
export function preferredMediaType<T extends string>(accepts: readonly string[], offered: readonly [T, ...T[]]): T {
  for (const wanted of accepts) {
    const found = offered.find((type) => wanted === type || wanted === `${type.split('/')[0]}/*`)
    if (found) return found
    if (wanted === '*/*') break
  }
  return offered[0]
}
